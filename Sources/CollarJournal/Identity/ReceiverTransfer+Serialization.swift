import CheckedNumbers
import CollarARQ
import CollarWire

extension ReceiverTransfer {
    /// The first error in a text that should describe a receiver.
    package struct TextFault: Error, Equatable, Sendable {
        /// The line number, from 1.
        package let line: Int
        /// The expected content of the line.
        package let wanted: String
    }

    private static let title = "collar-link receiver 1"
    private static let end = "end"

    /// Lines for a file: a title, the receiver, a line for each log with its ranges, and an end line, so that a truncated
    /// file is noticed.
    package var text: String {
        var lines = [Self.title, "id \(String(receiverID, radix: 16))"]
        for log in logs {
            let ranges = log.covered.map { " \($0.first)-\($0.last)" }.joined()
            lines.append("log \(String(log.deviceID, radix: 16)) \(log.logID)\(ranges)")
        }
        return (lines + [Self.end]).joined(separator: "\n") + "\n"
    }

    /// Reads a text that ``text`` produced.
    package init(text: String) throws(TextFault) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map({ $0 == Self.title }) == true else { throw TextFault(line: 1, wanted: "'\(Self.title)'") }
        let id = lines.dropFirst().first?.split(separator: " ") ?? []
        guard id.count == 2, id[0] == "id", let receiverID = UInt32(hexadecimal: id[1], in: 1 ... .max) else {
            throw TextFault(line: 2, wanted: "'id' and a receiver's number")
        }
        var logs: [Log] = []
        for (index, line) in lines.enumerated().dropFirst(2) {
            if line == Self.end {
                self.init(receiverID: receiverID, logs: logs)
                return
            }
            guard let log = Log(line) else {
                throw TextFault(line: index + 1, wanted: "'log', a collar, a log and ranges in order, or '\(Self.end)'")
            }
            logs.append(log)
        }
        throw TextFault(line: lines.count + 1, wanted: "'\(Self.end)': the text is cut short")
    }
}

extension ReceiverTransfer.Log {
    fileprivate init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count > 3, words[0] == "log", let deviceID = UInt64(hexadecimal: words[1]),
            let logID = UInt32(words[2], in: 0...LogIdentity.maximumLogID), LogIdentity(deviceID: deviceID, logID: logID) != nil
        else { return nil }
        var covered = SequenceRanges()
        for word in words.dropFirst(3) {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { UInt32($0, in: 0...Fix.maximumSequence) }
            guard ends.count == 2, let first = ends[0], let last = ends[1], let range = SequenceRange(first, last),
                covered.ranges.last.map({ $0.last < first }) ?? true
            else { return nil }
            covered.insert(range)
        }
        self.init(deviceID: deviceID, logID: logID, covered: covered.ranges)
    }
}
