import CheckedNumbers
import CollarFormats
import CollarJournal

/// The lines of the event log that a reader wants.
package struct FollowedEvents {
    private let log: EventLogReader
    private let heads: [[UInt8]]
    private let collars: [String]?
    private let earliestUnixMilliseconds: Int64
    private var lines: ArraySlice<EventLogReader.Line> = []
    /// Whether the log may have lines that were not read.
    package private(set) var isBehind = true
    /// The position before which the consumer has all wanted lines.
    package private(set) var taken: EventPosition
    private var outstandingCount = 0

    /// - Parameter former: where the reader has stopped; nil if it has no position.
    package init(_ configuration: ReadingConfiguration, former: EventPosition?, fileSystem: (any FileSystem)? = nil) {
        taken = former ?? .start
        log = EventLogReader(stateDirectory: configuration.stateDirectory, from: taken, fileSystem: fileSystem)
        heads = configuration.eventKinds.map(\.head)
        collars = configuration.wanted.deviceIDs?.map { "\"collar\":\"\($0)\"" }
        if former == nil, !configuration.readsAllEvents, case .since(let time) = configuration.start {
            earliestUnixMilliseconds = time
        } else {
            earliestUnixMilliseconds = .min
        }
    }

    package mutating func noteChange() { isBehind = true }

    /// Whether lines were removed before the reader took them.
    package var hasLostLines: Bool { log.hasLostLines }

    package mutating func next() throws(JournalError) -> EventLogReader.Line? {
        while true {
            while let line = lines.popFirst() {
                guard isWanted(line.bytes) else {
                    // Unwanted lines are passed over once the consumer has the wanted ones before them.
                    if outstandingCount == 0 { taken = line.end }
                    continue
                }
                outstandingCount += 1
                return line
            }
            guard isBehind else { return nil }
            lines = try log.next()[...]
            if lines.isEmpty {
                isBehind = false
                return nil
            }
        }
    }

    /// The consumer has a line and those before it.
    package mutating func confirm(through position: EventPosition) {
        outstandingCount -= 1
        taken = max(taken, position)
    }

    private func isWanted(_ line: [UInt8]) -> Bool {
        // A full disk may have cut a line.
        guard line.suffix(2) == Array("}\n".utf8)[...], heads.contains(where: { line.starts(with: $0) }) else { return false }
        if earliestUnixMilliseconds > .min, let time = FollowedEvents.unixMilliseconds(of: line), time < earliestUnixMilliseconds {
            return false
        }
        guard let collars else { return true }
        let text = String(decoding: line, as: UTF8.self)
        // A line without a collar concerns all of them.
        return !text.contains(text: "\"collar\":") || collars.contains(where: text.contains(text:))
    }

    /// The time that follows the type of a line, in milliseconds since 1970.
    private static func unixMilliseconds(of line: [UInt8]) -> Int64? {
        let key = Array("\"unix_ms\":".utf8)
        guard let comma = line.firstIndex(of: UInt8(ascii: ",")), line[(comma + 1)...].starts(with: key) else { return nil }
        let digits = line[(comma + 1 + key.count)...].prefix { (0x30...0x39).contains($0) }
        return Int64(digits: digits, radix: 10, in: .unixMilliseconds)
    }
}
