import CollarFormats

/// The animals file: which animals there are, and which collar each wears from when to when. A person can edit the text, such as:
///
/// ```
/// # my cats
/// [animal Athena]
/// species = Felis catus
/// notes = grey, shy
/// wears = 910a2b3c4d5e6f70 from 2026-05-01 until 2026-09-30T12:00:00Z
/// wears = 910a2b3c4d5e6f71 from 2026-10-01
/// ```
///
/// `from` and `until` may be left out: the deployment then has no begin, or no end. `until` is the first instant at which the
/// collar is not worn any more. A date is its midnight, UTC. `#` begins a comment at the start of a line, and after a space or tab.
/// The functions that change an animal keep the comments, blank lines, spaces and order of the text.
package struct AnimalRegister: Equatable, Sendable {
    /// The largest file that is read, in bytes.
    package static let byteLimit = 1 << 20
    /// The longest name or species, in bytes of UTF-8.
    package static let nameByteLimit = 128
    /// The longest notes, in bytes of UTF-8.
    package static let notesByteLimit = 1024

    /// The animals, in their order in the file.
    package internal(set) var animals: [RegisteredAnimal] = []
    /// The lines of the file, without their line feeds.
    package private(set) var lines: [String]

    package init() { lines = [""] }

    /// Complexity: linear in the content; n log n in the deployments of one collar.
    /// - Throws: the first line that is wrong, or the first two lines that put a collar on two animals at one time.
    package init(_ content: [UInt8]) throws(AnimalRegisterError) {
        guard content.count <= AnimalRegister.byteLimit else {
            throw AnimalRegisterError(.tooLong(byteLimit: AnimalRegister.byteLimit), line: 1)
        }
        var lines: [String] = []
        for bytes in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard let line = String(validating: bytes, as: UTF8.self) else {
                throw AnimalRegisterError(.notText, line: lines.count + 1)
            }
            lines.append(line)
        }
        try self.init(lines: lines)
    }

    /// Reads lines without their line feeds.
    package init(lines: [String]) throws(AnimalRegisterError) {
        self.lines = lines
        var headerLines: [Substring: Int] = [:]
        for (index, line) in lines.enumerated() {
            do throws(AnimalRegisterError.Problem) { try take(ConfigurationLine.words(of: line), index + 1, &headerLines) } catch {
                throw AnimalRegisterError(error, line: index + 1)
            }
        }
        try checkOverlaps()
    }

    package var content: [UInt8] { Array(lines.joined(separator: "\n").utf8) }

    /// All deployments, in their order in the file.
    package var deployments: [Deployment] { animals.flatMap(\.deployments) }

    /// - Parameter headerLines: the lines of the animals so far, by their names.
    private mutating func take(_ words: Substring, _ number: Int, _ headerLines: inout [Substring: Int]) throws(AnimalRegisterError.Problem) {
        if words.isEmpty { return }
        if words.hasPrefix("[") {
            guard let name = AnimalRegister.name(inHeader: words) else { throw .unknownSection(String(words)) }
            try AnimalRegister.checkName(String(name))
            if let earlier = headerLines.updateValue(number, forKey: name) { throw .repeatedAnimal(String(name), line: earlier) }
            animals.append(RegisteredAnimal(name: String(name), line: number))
            return
        }
        guard let (word, value) = ConfigurationLine.assignment(words) else { throw .notAnAssignment(String(words)) }
        guard let key = Key(rawValue: String(word)) else { throw .unknownKey(String(word)) }
        guard !animals.isEmpty else { throw .keyWithoutAnimal(key.rawValue) }
        let last = animals.count - 1
        if let earlier = animals[last].keyLines[key] { throw .repeatedKey(key.rawValue, line: earlier) }
        switch key {
        case .species:
            try AnimalRegister.check(String(value), as: .species)
            animals[last].species = String(value)
        case .notes:
            try AnimalRegister.check(String(value), as: .notes)
            animals[last].notes = String(value)
        case .wears: animals[last].wearings.append(try RegisteredAnimal.Wearing(value, line: number))
        }
        if key != .wears { animals[last].keyLines[key] = number }
        animals[last].lastLine = number
    }

    /// The name in `[animal NAME]`; nil for any other section.
    package static func name(inHeader words: Substring) -> Substring? { ConfigurationLine.section(words, of: "animal") }

    /// Checks that at any time a collar has at most one wearer.
    private func checkOverlaps() throws(AnimalRegisterError) {
        let wearings = animals.flatMap { animal in animal.wearings.map { (name: animal.name, wearing: $0) } }
        for (deviceID, ofCollar) in Dictionary(grouping: wearings, by: { $0.wearing.deviceID }).sorted(by: { $0.key < $1.key }) {
            let sorted = ofCollar.sorted { $0.wearing.times.lowerBound < $1.wearing.times.lowerBound }
            for (one, next) in zip(sorted, sorted.dropFirst()) where one.wearing.times.overlaps(next.wearing.times) {
                let (earlier, later) = one.wearing.line < next.wearing.line ? (one, next) : (next, one)
                throw AnimalRegisterError(
                    .worn(deviceID: deviceID, by: earlier.name, line: earlier.wearing.line), line: later.wearing.line)
            }
        }
    }

    // The rules for texts in the animals file. They hold for a file that a person has edited and for a change.

    package enum Key: String, CaseIterable, Sendable {
        /// The scientific name of its species.
        case species
        /// Free text.
        case notes
        /// A collar, and when it is worn.
        case wears
    }

    package static func checkName(_ name: String) throws(AnimalRegisterError.Problem) {
        try check(name, as: .name)
        if CollarID.deviceID(name) != nil { throw .wrongText(name, of: .name, .collarID) }
    }

    package static func check(_ text: String, as kind: AnimalRegisterError.TextKind) throws(AnimalRegisterError.Problem) {
        let byteLimit = kind == .notes ? notesByteLimit : nameByteLimit
        let fault: AnimalRegisterError.TextFault? =
            if text.isEmpty {
                .empty
            } else if text.utf8.count > byteLimit {
                .tooLong(byteLimit: byteLimit)
            } else if text.controlsText {
                .controlCharacter
            } else if text.trimmed != text[...] {
                .outerSpace
            } else if ConfigurationLine.withoutComment(text[...]) != text[...] {
                .comment
            } else {
                nil
            }
        if let fault { throw .wrongText(text, of: kind, fault) }
    }
}
