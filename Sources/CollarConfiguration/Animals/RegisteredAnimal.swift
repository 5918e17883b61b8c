import CollarFormats
import CollarWire

/// An animal of the animals file.
package struct RegisteredAnimal: Equatable, Sendable {
    /// Its name, which no other animal of the file has.
    package internal(set) var name: String
    /// The scientific name of its species; nil if the file has none.
    package internal(set) var species: String?
    /// Free text; nil if the file has none.
    package internal(set) var notes: String?
    /// The collars it wears and wore, in their order in the file.
    package internal(set) var wearings: [Wearing] = []
    /// The line of its header, from 1.
    package let line: Int
    /// The lines of the keys that may stand only once, from 1.
    var keyLines: [AnimalRegister.Key: Int] = [:]
    /// The last line with a key of this animal; its header if there is none.
    package var lastLine: Int

    package init(name: String, line: Int) {
        self.name = name
        self.line = line
        lastLine = line
    }

    /// The animal as deployments name it.
    package var animal: Animal { Animal(name: name, species: species) }

    /// Its deployments, in their order in the file.
    package var deployments: [Deployment] {
        wearings.map { wearing in
            Deployment(
                animal: animal, deviceID: wearing.deviceID, beginUnixMilliseconds: wearing.beginUnixMilliseconds,
                endUnixMilliseconds: wearing.endUnixMilliseconds)
        }
    }

    /// A line `wears = ID [from TIME] [until TIME]`.
    package struct Wearing: Equatable, Sendable {
        package internal(set) var deviceID: DeviceID
        /// The first instant, in milliseconds since 1970; nil for no bound.
        package internal(set) var beginUnixMilliseconds: Int64?
        /// The instant after the last one, in milliseconds since 1970; nil for no bound.
        package internal(set) var endUnixMilliseconds: Int64?
        /// The line, from 1; 0 for one that is not in the file.
        package internal(set) var line = 0

        package init(_ deviceID: DeviceID, from begin: Int64?, until end: Int64?) throws(AnimalRegisterError.Problem) {
            if let begin, let end, begin >= end { throw .endBeforeBegin }
            self.deviceID = deviceID
            beginUnixMilliseconds = begin
            endUnixMilliseconds = end
        }

        /// Reads the value of a line.
        package init(_ value: Substring, line: Int) throws(AnimalRegisterError.Problem) {
            var words = value.split(whereSeparator: \.isSpaceOrTab)[...]
            guard let first = words.popFirst() else { throw .wrongWearing(String(value)) }
            guard let deviceID = CollarID.deviceID(first) else { throw .wrongCollar(String(first)) }
            let begin = try Wearing.time(after: "from", &words, of: value)
            let end = try Wearing.time(after: "until", &words, of: value)
            guard words.isEmpty else { throw .wrongWearing(String(value)) }
            try self.init(deviceID, from: begin, until: end)
            self.line = line
        }

        private static func time(
            after word: String, _ words: inout ArraySlice<Substring>, of value: Substring
        ) throws(AnimalRegisterError.Problem) -> Int64? {
            guard words.first == word[...] else { return nil }
            words.removeFirst()
            guard let text = words.popFirst() else { throw .wrongWearing(String(value)) }
            guard let time = CalendarTime.unixMilliseconds(text) else { throw .wrongTime(String(text)) }
            return time
        }

        /// The instants at which the collar is worn, in milliseconds since 1970.
        package var times: Range<Int64> { (beginUnixMilliseconds ?? .min)..<(endUnixMilliseconds ?? .max) }

        /// The value of the line.
        package var text: String {
            deviceID.description + (beginUnixMilliseconds.map { " from " + CalendarTime.text(unixMilliseconds: $0) } ?? "")
                + (endUnixMilliseconds.map { " until " + CalendarTime.text(unixMilliseconds: $0) } ?? "")
        }
    }
}
