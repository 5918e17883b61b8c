import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire
import CollarWorld

/// A host on a simulated disk. A test passes frames to the host and sets its time.
final class HostBench {
    let disk: SimulatedDisk
    private(set) var host: Host
    private(set) var now = Instant(microseconds: 0)
    let configuration: HostConfiguration
    static let unixMilliseconds: Int64 = 1_700_000_000_000
    /// The time of day at instant 0.
    var startUnixMilliseconds = HostBench.unixMilliseconds

    /// - Parameter disk: the disk of a former host, whose process ends.
    init(on disk: SimulatedDisk = SimulatedDisk(seed: 1), _ change: (inout HostConfiguration) -> Void = { _ in }) throws {
        self.disk = disk
        disk.endProcess()
        var configuration = HostConfiguration(stateDirectory: "/state")
        change(&configuration)
        self.configuration = configuration
        host = try Host(
            configuration, fileSystem: disk, random: SeededRandom(seed: 7),
            at: HostTime(instant: now, unixMilliseconds: HostBench.unixMilliseconds))
    }

    var time: HostTime {
        HostTime(instant: now, unixMilliseconds: startUnixMilliseconds + now.microseconds / 1000)
    }

    func wait(seconds: Double) { now = now.advanced(byMicroseconds: Int64(seconds * 1e6)) }

    /// Lets the time pass until a deadline; a time that is over changes nothing.
    func wait(until due: Instant) { now = max(now, due) }

    /// Ends the process, and starts another host on the same disk.
    func restart() throws {
        disk.endProcess()
        host = try Host(configuration, fileSystem: disk, random: SeededRandom(seed: 8), at: time)
    }

    func openLink(_ name: String = "radio") -> LinkID {
        let link = host.addLink(named: name)
        host.linkOpened(link, at: time)
        return link
    }

    /// Passes a bare frame to the host, in its serial form.
    func receive(_ frame: [UInt8], on link: LinkID) {
        let serial = [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
        host.receive(serial.span, on: link, at: time)
    }

    func commit() { while host.commitNext(at: time) {} }

    /// Takes the frames that wait to be sent, with their links.
    func frames() -> [(link: LinkID, bytes: [UInt8])] {
        var frames: [(link: LinkID, bytes: [UInt8])] = []
        while true {
            var link: LinkID?
            let frame = [UInt8](capacity: Frame.maximumByteCount) { output in link = host.nextFrame(into: &output) }
            guard let link else { return frames }
            frames.append((link, frame))
        }
    }

    func notices() -> [HostNotice] {
        var notices: [HostNotice] = []
        host.moveNotices(to: &notices)
        return notices
    }

    /// The requests that ended, and how.
    func requestEnds() -> [UInt16: HostRequestOutcome] {
        var ends: [UInt16: HostRequestOutcome] = [:]
        for case .requestEnded(let report) in notices() {
            if case .ended(let end) = report.state { ends[report.requestID] = end }
        }
        return ends
    }

    /// Takes the entries that wait, and confirms that the consumer has them.
    func entries() -> [EmittedEntry] {
        var entries: [EmittedEntry] = []
        while let entry = host.nextEntry(at: time) {
            entries.append(entry)
            host.emitted(entry.receipt)
        }
        return entries
    }

    /// Takes the fixes that wait, confirms that the consumer has them, and makes this confirmation durable.
    func takeFixes() -> [JournaledFix] {
        commit()
        defer { commit() }
        return entries().compactMap { if case .fix(let record) = $0.content { record } else { nil } }
    }
}

/// A stand-in for a collar: it makes frames and does nothing else.
struct PaperCollar {
    let log: LogIdentity
    var receiverID: UInt32 = 0
    var address: UInt8 = 9

    init(deviceID: DeviceID = 0xC0, logID: LogID = 77) throws {
        log = LogIdentity(deviceID: deviceID, logID: logID)
    }

    private enum FrameFault: Error { case badRange }

    func identity(next: UInt32 = 0, oldest: UInt32 = 0, boot: UInt32 = 1, heartbeat: UInt16 = 60, poll: UInt8? = 1) throws -> [UInt8] {
        let identity = Identity(
            log: log, bootCount: boot, oldestSequence: oldest, nextSequence: next, pairedReceiverID: receiverID,
            maximumFrameByteCount: 253, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            capabilities: .sounder, heartbeatSeconds: heartbeat)
        return try frame { output throws(EncodeError) in
            try identity.encode(address: address, flags: flags(poll), into: &output)
        }
    }

    func probe(next: UInt32, poll: UInt8? = nil) throws -> [UInt8] {
        try frame { output throws(EncodeError) in
            try Probe(logTag: log.tag, nextSequence: next).encode(address: address, flags: flags(poll), into: &output)
        }
    }

    func fix(
        _ sequence: UInt32, seconds: Int64 = 0, latitudeSteps: Int32 = 5, accuracyMillimeters: UInt32? = nil,
        battery: UInt8? = nil, poll: UInt8? = nil, isShort: Bool = false
    ) throws -> [UInt8] {
        var fix = Fix(
            sequence: sequence, unixMilliseconds: 1_700_000_000_000 + 1000 * seconds, latitudeSteps: latitudeSteps,
            longitudeSteps: 6)
        fix.batteryPercent = battery
        fix.horizontalAccuracy = accuracyMillimeters.map { AccuracyCode(nearestToMillimeters: $0) }
        return try frame { output throws(EncodeError) in
            try AbsoluteFix.encode(
                fix, address: address, flags: flags(poll), log: log, reference: isShort ? sequence : nil, into: &output)
        }
    }

    func tombstone(_ first: UInt32, _ last: UInt32, poll: UInt8? = nil) throws -> [UInt8] {
        guard let range = SequenceRange(first, last) else { throw FrameFault.badRange }
        var ranges = SequenceRangeList()
        ranges.append(range)
        return try frame { output throws(EncodeError) in
            try Tombstone(ranges: ranges).encode(address: address, flags: flags(poll), log: log, into: &output)
        }
    }

    /// - Parameter seconds: the time by the collar's clock; nil if it does not know the time.
    func status(
        isTracking: Bool = true, gnss: Status.GNSSState = .fix, battery: UInt8? = nil, lastError: CollarFault = .none,
        seconds: Int64? = nil, isStationary: Bool = false, isResting: Bool = false
    ) throws -> [UInt8] {
        var status = Status()
        status.batteryPercent = battery
        status.lastError = lastError
        status.clock = seconds.map { Status.Clock(unixMilliseconds: HostBench.unixMilliseconds + 1000 * $0, uptimeMilliseconds: 0) }
        status.isTracking = isTracking
        status.gnssState = gnss
        status.isStationary = isStationary
        status.isResting = isResting
        return try frame { output throws(EncodeError) in
            try status.encode(address: address, flags: flags(nil), log: log, into: &output)
        }
    }

    /// - Parameter next: seconds to the next search.
    func power(_ mode: PowerReport.Mode, next: UInt32? = nil, failures: UInt8 = 0) throws -> [UInt8] {
        var report = PowerReport()
        report.mode = mode
        report.supply = next == 0 ? .searching : .backup
        report.secondsToSearch = next
        report.failuresInRow = failures
        return try frame { output throws(EncodeError) in
            try report.encode(address: address, flags: flags(nil), log: log, into: &output)
        }
    }

    /// The frames of a report of all settings.
    /// - Parameter changes: the settings that do not have their defaults, by key.
    func settings(_ changes: [SettingKey: UInt32], version: UInt64 = 1) throws -> [[UInt8]] {
        let defaults: [UInt32] = [500, 1000, 2000, 5000, 500, 500, 30, 60, 5, 0, 500, 5000, 0, 0, 0, 0, 0, 60, 2000, 0, 0, 3600, 10]
        return try [1...6, 7...12, 13...18, 19...23].map { (keys: ClosedRange<UInt8>) in
            var entries = SettingList()
            for raw in keys {
                entries.append(Setting(key: raw, value: SettingKey(rawValue: raw).flatMap { changes[$0] } ?? defaults[Int(raw) - 1]))
            }
            let report = Settings(
                direction: .report, requestID: 0, version: SettingsVersion(rawValue: version), entries: entries)
            return try frame { output throws(EncodeError) in
                try report.encode(address: address, flags: flags(nil), log: log, into: &output)
            }
        }
    }

    func result(_ requestID: UInt16, _ outcome: CommandResult.Outcome = .ok) throws -> [UInt8] {
        try frame { output throws(EncodeError) in
            try CommandResult(requestID: requestID, outcome: outcome).encode(
                address: address, flags: flags(nil), log: log, into: &output)
        }
    }

    /// A notice of the application, whose data is the low byte of the sequence.
    func message(_ sequence: UInt32, poll: UInt8? = nil) throws -> [UInt8] {
        try frame { output throws(EncodeError) in
            try CollarMessage(sequence: sequence, content: PaperCollar.content(sequence)).encode(
                address: address, flags: flags(poll), log: log, into: &output)
        }
    }

    static func content(_ sequence: UInt32) -> ApplicationMessage {
        let data = [UInt8(truncatingIfNeeded: sequence)]
        guard let message = ApplicationMessage(kind: .notice, code: 9, unixSeconds: 1_700_000_000, data: data.span) else {
            preconditionFailure("one byte fits")
        }
        return message
    }

    private func flags(_ poll: UInt8?) -> FrameFlags { FrameFlags(poll: poll.flatMap { PollNumber(rawValue: $0) }) }

    private func frame(_ body: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) throws -> [UInt8] {
        try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try body(&output)
        }
    }
}
