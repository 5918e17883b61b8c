import CheckedNumbers
import CollarTracking

/// The content of a places file. A person edits the text, such as:
///
/// ```
/// [place home]
/// at = 50.1703 -5.1140        # latitude and longitude in degrees
/// radius = 60                 # metres
/// private = yes
///
/// [place meadow]
/// area = meadow.geojson
///
/// [alerts]
/// farther = 500               # metres from home
/// silent = 2h                 # without reception, or off
/// quiet = 22:00-07:00         # local time
/// ```
///
/// `private` hides the positions in a place. The file of an area is beside the places file, unless its path begins with `/`.
/// ``ConfigurationLine`` says what spaces and comments mean.
package struct PlaceFile: Equatable, Sendable {
    /// The largest file that is read, in bytes.
    package static let byteLimit = 1 << 20
    /// The longest name of a place, in bytes of UTF-8.
    package static let nameByteLimit = 128
    /// Radii in metres: from less than the error of a position to the Earth's radius.
    package static let radiusRange = 1.0...6_000_000

    /// The places, in their order in the file.
    package private(set) var places: [Place] = []
    /// The files that areas come from.
    package private(set) var areaPaths: [String] = []
    /// The alerts that the file asks for; nil without a section for them.
    package private(set) var alerts: AlertRules?

    package init() {}

    /// - Parameters:
    ///   - folder: where the files of areas are, without a slash at the end.
    ///   - area: reads the file of an area.
    /// - Throws: the first line that is wrong.
    package init(
        _ content: [UInt8], folder: String, area: (_ path: String) throws(PlaceFileError.Problem) -> Area
    ) throws(PlaceFileError) {
        guard content.count <= PlaceFile.byteLimit else { throw PlaceFileError(.tooLong(byteLimit: PlaceFile.byteLimit), line: 1) }
        var sections: [PlaceSection] = []
        var alerts: AlertSection?
        var isInAlerts = false
        for (index, bytes) in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            do throws(PlaceFileError.Problem) {
                guard let line = String(validating: bytes, as: UTF8.self) else { throw .notText }
                let words = ConfigurationLine.words(of: line)
                if AlertSection.isHeader(words) {
                    if let alerts { throw .repeatedAlerts(line: alerts.line) }
                    alerts = AlertSection(line: index + 1)
                    isInAlerts = true
                } else if words.hasPrefix("[") {
                    isInAlerts = false
                    let section = try PlaceSection(header: words, line: index + 1)
                    if let earlier = sections.first(where: { $0.name == section.name }) { throw .repeatedPlace(section.name, line: earlier.line) }
                    sections.append(section)
                } else if !words.isEmpty {
                    guard let (key, value) = ConfigurationLine.assignment(words) else { throw .notAnAssignment(String(words)) }
                    if isInAlerts {
                        try alerts?.take(String(key), value, line: index + 1)
                        continue
                    }
                    guard !sections.isEmpty else { throw .keyWithoutPlace(String(key)) }
                    try sections[sections.count - 1].take(String(key), value, line: index + 1)
                }
            } catch { throw PlaceFileError(error, line: index + 1) }
        }
        self.alerts = alerts?.rules
        for section in sections {
            places.append(
                try section.place { name throws(PlaceFileError.Problem) in
                    let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
                    areaPaths.append(path)
                    return try area(path)
                })
        }
    }
}

/// A section of a places file: the keys of one place.
private struct PlaceSection {
    private enum Key: String, CaseIterable {
        case at, radius, area, `private`
    }

    let name: String
    /// The line of its header, from 1.
    let line: Int
    private var center: Position?
    private var radiusMeters: Double?
    private var areaName: String?
    private var isPrivate = false
    private var keyLines: [Key: Int] = [:]

    init(header: Substring, line: Int) throws(PlaceFileError.Problem) {
        guard let name = ConfigurationLine.section(header, of: "place") else { throw .unknownSection(String(header)) }
        guard !name.isEmpty, name.utf8.count <= PlaceFile.nameByteLimit, !String(name).controlsText else { throw .wrongName(String(name)) }
        self.name = String(name)
        self.line = line
    }

    mutating func take(_ word: String, _ value: Substring, line: Int) throws(PlaceFileError.Problem) {
        guard let key = Key(rawValue: word) else { throw .unknownKey(word, keys: Key.allCases.map(\.rawValue)) }
        if let earlier = keyLines.updateValue(line, forKey: key) { throw .repeatedKey(word, line: earlier) }
        switch key {
        case .at:
            guard let position = Position(text: value) else { throw .wrongPosition(String(value)) }
            center = position
        case .radius:
            guard let radius = Double(value, in: PlaceFile.radiusRange) else { throw .wrongRadius(String(value)) }
            radiusMeters = radius
        case .area: areaName = String(value)
        case .private:
            switch value {
            case "yes": isPrivate = true
            case "no": isPrivate = false
            default: throw .wrongChoice(String(value))
            }
        }
    }

    func place(_ area: (_ name: String) throws(PlaceFileError.Problem) -> Area) throws(PlaceFileError) -> Place {
        let shape: Place.Shape
        switch (center, radiusMeters, areaName) {
        case (let center?, let radius?, nil): shape = .circle(center: center, radiusMeters: radius)
        case (nil, nil, let name?):
            do throws(PlaceFileError.Problem) { shape = .area(try area(name)) } catch {
                throw PlaceFileError(error, line: keyLines[.area] ?? line)
            }
        default: throw PlaceFileError(.noShape(name), line: line)
        }
        return Place(name: name, shape: shape, isPrivate: isPrivate)
    }
}

extension Position {
    /// Reads latitude and longitude in degrees, with a space or a comma between them.
    package init?(text: Substring) {
        let words = text.split { $0.isSpaceOrTab || $0 == "," }
        guard words.count == 2, let latitude = Double(words[0], in: -90...90), let longitude = Double(words[1], in: -180...180) else { return nil }
        self.init(latitudeDegrees: latitude, longitudeDegrees: longitude)
    }
}
