import CollarFormats
import CollarErrors
import CollarJournal
import CollarWire
import LinuxSystem

/// `collar-link history --verify`: reports what is stored, and what is damaged.
struct HistoryVerification {
    let journals: StoredJournals
    let format: OutputFormat

    /// - Parameter repairs: whether to mark damaged fixes first, so that their collars are asked for them again.
    func run(repairs: Bool) throws(CommandFailure) -> ExitCode {
        let repaired = repairs ? try repair() : .clean
        var isIntact = true
        let verified = try journals.forEach(of: journals.collars) { (deviceID) throws(CommandFailure) in
            let found = try verify(deviceID)
            if !found.isIntact {
                isIntact = false
                explain(found, of: deviceID)
            }
            return try print(found, of: deviceID)
        }
        guard isIntact else { return .corruptInput }
        return verified == .clean ? repaired : verified
    }

    private func verify(_ deviceID: DeviceID) throws(CommandFailure) -> JournalVerification {
        let reader = try journals.reader(of: deviceID)
        return try CommandFailure.wrapping(try reader.verify())
    }

    private func print(_ found: JournalVerification, of deviceID: DeviceID) throws(CommandFailure) -> Bool {
        for log in found.logs {
            let isIntact = found.damagedSegments.isEmpty && found.damage.isEmpty && log.damaged.ranges.isEmpty
            let bytes = format == .json
                ? log.line(deviceID: deviceID, isIntact: isIntact) : Array(log.text(deviceID: deviceID, isIntact: isIntact).utf8)
            guard try StandardOutput.write(bytes) else { return false }
        }
        return true
    }

    private func explain(_ found: JournalVerification, of deviceID: DeviceID) {
        for report in found.damage.prefix(10) {
            let place = "segment \(report.segment) of the journal of \(collarName(deviceID))"
            StandardError.say(
                report.byteCount == 0
                    ? "There is no \(place) any more." : "In \(place), \(report.byteCount) bytes at offset \(report.offset) are no record.")
        }
        let count = found.logs.reduce(0) { $0 + $1.damaged.count }
        StandardError.say(
            "The journal of \(collarName(deviceID)) is damaged: \(count) fixes or losses that were stored are gone.",
            remedy: "Stop `collar-link run`, have the collar asked for them again with `collar-link history --verify --repair`, "
                + "and check the disk (`sudo dmesg`).")
    }

    private func repair() throws(CommandFailure) -> ExitCode {
        // A running receiver holds the same lock, so a repair fails while a receiver runs.
        let lock = try Self.opening { () throws(JournalError) in try StateDirectoryLock(journals.stateDirectory) }
        defer { withExtendedLifetime(lock) {} }
        var random = SystemRandomNumberGenerator()
        let identity = try Self.opening { () throws(JournalError) in
            try ReceiverIdentity.load(
                stateDirectory: journals.stateDirectory, fileSystem: POSIXFileSystem(stateDirectory: journals.stateDirectory), random: &random)
        }
        return try journals.forEach(of: journals.collars) { (deviceID) throws(CommandFailure) in
            let found = try verify(deviceID)
            guard !found.isIntact else { return true }
            let journal = try Self.opening { () throws(JournalError) in
                let journal = try Journal.open(
                    stateDirectory: journals.stateDirectory, deviceID: deviceID, receiverID: identity.receiverID,
                    nowUnixMilliseconds: WallClock.unixMilliseconds)
                for segment in found.damagedSegments { _ = try journal.uncoverDamage(inSegment: segment) }
                try journal.commit()
                return journal
            }
            for log in found.logs {
                let ranges = log.damaged.ranges.flatMap { journal.durable(logID: log.logID).covered.missingRanges(in: $0) }
                guard !ranges.isEmpty else { continue }
                StandardError.say(
                    "\(collarSubject(deviceID)) is asked for these again when it is heard: fixes \(LogVerification.text(of: ranges)).")
            }
            return true
        }
    }

    /// Runs `body`; a failure gets the exit code and remedy that it has in `collar-link run`.
    private static func opening<Result>(_ body: () throws(JournalError) -> Result) throws(CommandFailure) -> Result {
        do throws(JournalError) { return try body() } catch { throw CommandFailure(error.message) }
    }
}
