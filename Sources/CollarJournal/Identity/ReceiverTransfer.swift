import CheckedNumbers
import CollarARQ
import CollarWire

/// A receiver that moves from one state directory to another: its id, and the sequences that it covers in each log.
///
/// Two receivers with one id would acknowledge in each other's name, so the old one retires before the new one begins.
package struct ReceiverTransfer: Equatable, Sendable {
    /// The sequences of one log that the receiver covers.
    package struct Log: Equatable, Sendable {
        package let deviceID: DeviceID
        package let logID: LogID
        /// The ranges that are stored or known not to come, in order.
        package var covered: [SequenceRange]
    }

    package let receiverID: UInt32
    package var logs: [Log]

    init(receiverID: UInt32, logs: [Log]) {
        self.receiverID = receiverID
        self.logs = logs
    }

    /// Retires the receiver of a state directory durably: it receives nothing there any more. A retired receiver can be
    /// exported again.
    /// - Throws: ``JournalError/noReceiver(path:)`` if there is none, ``JournalError/heldBy(processID:path:)`` while it runs.
    package static func retiring(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), nowUnixMilliseconds: Int64,
        fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) -> ReceiverTransfer {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        let lock = try StateDirectoryLock(stateDirectory, fileSystem: fileSystem)
        let receiverID: UInt32
        do throws(JournalError) {
            guard
                let known = try ReceiverIdentity.existing(stateDirectory: stateDirectory, places: places, fileSystem: fileSystem)
            else { throw .noReceiver(path: stateDirectory) }
            receiverID = known.receiverID
        } catch {
            guard case .retired(let retired, _) = error else { throw error }
            receiverID = retired
        }
        var logs: [Log] = []
        for deviceID in try JournalDirectory.knownCollars(stateDirectory: stateDirectory, fileSystem: fileSystem) {
            guard
                let journal = try existingJournal(
                    stateDirectory: stateDirectory, deviceID: deviceID, receiverID: receiverID,
                    nowUnixMilliseconds: nowUnixMilliseconds, fileSystem: fileSystem)
            else { continue }
            try journal.commit()
            for log in journal.ledger.logs where !log.durable.ranges.isEmpty {
                logs.append(Log(deviceID: deviceID, logID: log.id, covered: log.durable.ranges))
            }
        }
        let path = ReceiverFile.path(in: stateDirectory)
        try JournalError.wrappingAll { () throws(FileFailure) in
            try SmallFile.replace(path, in: stateDirectory, with: ReceiverFile.retired(receiverID: receiverID).text, fileSystem)
        }
        withExtendedLifetime(lock) {}
        return ReceiverTransfer(receiverID: receiverID, logs: logs)
    }

    /// The journal of a collar; nil if the journal's name belongs to something else.
    private static func existingJournal(
        stateDirectory: String, deviceID: DeviceID, receiverID: UInt32, nowUnixMilliseconds: Int64, fileSystem: any FileSystem
    ) throws(JournalError) -> Journal? {
        do throws(JournalError) {
            return try Journal.open(
                stateDirectory: stateDirectory, deviceID: deviceID, receiverID: receiverID,
                nowUnixMilliseconds: nowUnixMilliseconds, fileSystem: fileSystem)
        } catch {
            guard case .file(let failure) = error, failure.isInTheWay else { throw error }
            return nil
        }
    }

    /// Continues this receiver in a state directory that is new, or a copy of the one in which the receiver retired. All
    /// sequences in ``logs`` count as stored. Fixes that are not in this directory are reported as delivered elsewhere.
    /// - Throws: ``JournalError/otherReceiver(path:)`` if another receiver has stored something there.
    package func takeOver(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), nowUnixMilliseconds: Int64,
        fileSystem: (any FileSystem)? = nil, random: inout some RandomNumberGenerator
    ) throws(JournalError) {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        let lock = try StateDirectoryLock(stateDirectory, fileSystem: fileSystem)
        guard try mayTakeOver(stateDirectory, places, fileSystem) else { throw .otherReceiver(path: stateDirectory) }
        // The identity is written last: until then this call can be repeated, and no receiver runs here.
        for log in logs { try take(log, stateDirectory, nowUnixMilliseconds, fileSystem) }
        let path = ReceiverFile.path(in: stateDirectory)
        let newPath = try JournalError.wrapping(try SmallFile.create(for: path, fileSystem))
        let bytes = ReceiverFile.randomBytes(from: &random)
        let binding = try ReceiverBinding(of: newPath, places, fileSystem)
        let here = ReceiverIdentity(randomBytes: bytes, binding: binding)
        let file = ReceiverFile.identity(randomBytes: bytes, difference: here.receiverID ^ receiverID)
        try JournalError.wrapping(try SmallFile.finish(newPath, as: path, in: stateDirectory, with: file.text, fileSystem))
        withExtendedLifetime(lock) {}
    }

    private func mayTakeOver(
        _ stateDirectory: String, _ places: ReceiverBinding.Places, _ fileSystem: any FileSystem
    ) throws(JournalError) -> Bool {
        do throws(JournalError) {
            guard
                let known = try ReceiverIdentity.existing(stateDirectory: stateDirectory, places: places, fileSystem: fileSystem),
                known.receiverID != receiverID
            else { return true }
            return try JournalDirectory.knownCollars(stateDirectory: stateDirectory, fileSystem: fileSystem).isEmpty
        } catch {
            guard case .retired(receiverID, _) = error else { throw error }
            return true
        }
    }

    private func take(
        _ log: Log, _ stateDirectory: String, _ nowUnixMilliseconds: Int64, _ fileSystem: any FileSystem
    ) throws(JournalError) {
        let journal = try Journal.open(
            stateDirectory: stateDirectory, deviceID: log.deviceID, receiverID: receiverID,
            nowUnixMilliseconds: nowUnixMilliseconds, fileSystem: fileSystem)
        for range in log.covered {
            _ = try journal.append(
                JournaledLoss(
                    logID: log.logID, range: range, reason: .storedBeforeMove,
                    receivedUnixMilliseconds: nowUnixMilliseconds))
        }
        try journal.commit()
    }

    /// The first error in a text that should describe a receiver.
    package struct TextFault: Error, Equatable, Sendable {
        /// The line number, from 1.
        package let line: Int
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
            lines.append("log \(String(log.deviceID.rawValue, radix: 16)) \(log.logID)\(ranges)")
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
        guard words.count > 3, words[0] == "log", let deviceID = DeviceID(hexadecimal: words[1]),
            let logID = UInt32(words[2], in: 0 ... .max).flatMap(LogID.init(rawValue:))
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
