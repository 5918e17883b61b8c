import CheckedNumbers

/// The content of a configuration file, such as:
///
/// ```
/// # a comment
/// region = EU868                      # before the first section: for every stick
///
/// [stick serial=0123456789]           # for this stick
/// dialect = kiss
/// frequency = 868.1
/// ```
///
/// ``ConfigurationLine`` says what spaces and comments mean.
package struct ConfigurationFile: Equatable, Sendable {
    /// The options for every stick.
    package private(set) var general = RadioOptions()
    package private(set) var sections: [Section] = []

    package struct Section: Equatable, Sendable {
        package let name: StickName
        /// The line of its header, from 1.
        package let line: Int
        package fileprivate(set) var options = RadioOptions()
    }

    /// The largest file that is read, in bytes.
    package static let byteLimit = 65_536

    package init() {}

    package init(_ content: [UInt8], path: String) throws(ConfigurationError) {
        guard content.count <= ConfigurationFile.byteLimit else {
            throw ConfigurationError(.tooLong(byteLimit: ConfigurationFile.byteLimit), at: .file(path: path, line: 1))
        }
        for (index, bytes) in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let place = ConfigurationPlace.file(path: path, line: index + 1)
            guard let line = String(validating: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self) else {
                throw ConfigurationError(.notText, at: place)
            }
            try take(ConfigurationLine.withoutComment(line[...]).trimmed, index + 1, at: place)
        }
    }

    private mutating func take(_ line: Substring, _ number: Int, at place: ConfigurationPlace) throws(ConfigurationError) {
        if line.isEmpty { return }
        if line.hasPrefix("[") {
            guard let name = StickName(section: line) else { throw ConfigurationError(.unknownSection(String(line)), at: place) }
            if let earlier = sections.first(where: { $0.name == name }) {
                throw ConfigurationError(.repeatedSection(String(line), line: earlier.line), at: place)
            }
            sections.append(Section(name: name, line: number))
            return
        }
        guard let assignment = ConfigurationLine.assignment(line) else {
            throw ConfigurationError(.notAnAssignment(String(line)), at: place)
        }
        let key = String(assignment.key)
        guard let option = RadioOption(rawValue: key) else { throw ConfigurationError(.unknownKey(key), at: place) }
        var options = sections.last?.options ?? general
        if case .file(_, let line) = options.places[option] {
            throw ConfigurationError(.repeatedKey(key, line: line), at: place)
        }
        try options.set(option, to: String(assignment.value), at: place)
        if sections.isEmpty { general = options } else { sections[sections.count - 1].options = options }
    }
}

/// How a section of the configuration file names a stick.
package enum StickName: Hashable, Sendable {
    /// `serial=…`: the serial number of its USB device.
    case serial(String)
    /// `id-path=…`: the socket it is plugged into, as udev names it.
    case idPath(String)
    /// `path=…`: its device node, or a symbolic link to it.
    case path(String)
    /// `port=tcp://HOST:PORT`: a port of the network.
    case port(String)

    /// The forms of a section, for messages.
    package static let forms = "[stick serial=NUMBER], [stick id-path=PATH], [stick path=/dev/NAME] or [stick port=tcp://HOST:PORT]"

    /// Reads the header of a section, with its brackets; nil if it names no stick.
    package init?(section: Substring) {
        guard let words = ConfigurationLine.section(section, of: "stick"), let (key, text) = ConfigurationLine.assignment(words),
            !text.isEmpty
        else { return nil }
        let value = String(text)
        switch key {
        case "serial": self = .serial(value)
        case "id-path": self = .idPath(value)
        case "path" where value.hasPrefix("/"): self = .path(value)
        case "port" where StickName.isNetworkPort(value): self = .port(value)
        default: return nil
        }
    }

    /// Whether a text is `tcp://HOST:PORT`. The host may be an address in brackets.
    private static func isNetworkPort(_ text: String) -> Bool {
        guard text.hasPrefix("tcp://"), let colon = text.lastIndex(of: ":") else { return false }
        return UInt16(text[text.index(after: colon)...], in: 1 ... .max) != nil && !text[..<colon].dropFirst(6).isEmpty
    }
}
