import CheckedNumbers
import CollarFormats
import CollarJournal

/// The lines of the event log that a reader wants.
package struct FollowedEvents {
    private let log: EventLogReader
    private let heads: [[UInt8]]
    private let collars: [[UInt8]]?
    private let earliestUnixMilliseconds: Int64
    private var lines: ArraySlice<EventLogReader.Line> = []
    /// Whether the log may have lines that were not read.
    package private(set) var isBehind = true
    /// The position before which the consumer has all wanted lines.
    package private(set) var taken: EventPosition
    private var outstandingCount = 0

    /// - Parameter former: where the reader has stopped; nil if it has no position.
    package init(_ configuration: ReadingConfiguration, former: EventPosition?) {
        taken = former ?? .start
        log = EventLogReader(stateDirectory: configuration.stateDirectory, from: taken)
        heads = configuration.eventKinds.map { Array("{\"type\":\"\($0.rawValue)\",".utf8) }
        collars = configuration.wanted.deviceIDs.map { $0.map { Array("\"collar\":\"\(MessageDescription.hexadecimal($0))\"".utf8) } }
        if former == nil, case .since(let time) = configuration.start {
            earliestUnixMilliseconds = time
        } else {
            earliestUnixMilliseconds = .min
        }
    }

    package mutating func noteChange() { isBehind = true }

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
        // A line without a collar concerns all of them.
        let key = Array("\"collar\":".utf8)
        return !FollowedEvents.contains(line, key) || collars.contains { FollowedEvents.contains(line, $0) }
    }

    /// The time that follows the type of a line, in milliseconds since 1970.
    package static func unixMilliseconds(of line: [UInt8]) -> Int64? {
        let key = Array("\"unix_ms\":".utf8)
        guard let comma = line.firstIndex(of: UInt8(ascii: ",")), line[(comma + 1)...].starts(with: key) else { return nil }
        let digits = line[(comma + 1 + key.count)...].prefix { (0x30...0x39).contains($0) }
        return Int64(digits: digits, radix: 10, in: .unixMilliseconds)
    }

    private static func contains(_ line: [UInt8], _ part: [UInt8]) -> Bool {
        guard line.count >= part.count else { return false }
        return (0...(line.count - part.count)).contains { line[$0...].starts(with: part) }
    }
}
