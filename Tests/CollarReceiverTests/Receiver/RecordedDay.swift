import CollarARQ
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import RadioModems

@testable import CollarReceiver

/// Makes the bytes of a capture. What it does not say happens at the present time, which only ``wait(seconds:)`` changes.
struct RecordedDay {
    static let start = HostTime(instant: Instant(microseconds: 1_000_000_000), unixMilliseconds: 1_700_000_000_000)
    static let port = "/dev/ttyUSB7"

    private(set) var bytes: [UInt8]
    private var encoder = CaptureEncoder(at: start)
    private var microseconds: Int64 = 0
    private var round: UInt16 = 0

    /// - Parameter opensPort: whether a serial line is open from the start on.
    init(receiverID: UInt32 = 0xC0_FFEE, opensPort: Bool = true) {
        bytes = encoder.start()
        note(.began(receiverID: receiverID), port: "collar-link")
        if opensPort { open() }
    }

    var now: HostTime {
        HostTime(
            instant: RecordedDay.start.instant.advanced(byMicroseconds: microseconds),
            unixMilliseconds: RecordedDay.start.unixMilliseconds + microseconds / 1000)
    }

    mutating func wait(seconds: Double) { microseconds += Int64(seconds * 1e6) }

    /// Adds an event.
    /// - Parameter isSameRound: whether it was handled together with the one before.
    mutating func note(_ event: CaptureEvent, port: String = RecordedDay.port, isSameRound: Bool = false) {
        if !isSameRound { round &+= 1 }
        bytes += encoder.encode(CaptureRecord(time: now, round: round, port: port, event: event))
    }

    mutating func open(_ port: String = RecordedDay.port, dialect: Dialect? = .serial, report: PortOpening.Report = .now) {
        var opening = PortOpening(report: report, kind: .board)
        opening.modem.dialect = dialect
        note(.opened(opening), port: port)
    }

    /// Bare frames came in on a serial line.
    mutating func receive(_ frames: [UInt8]..., port: String = RecordedDay.port, isSameRound: Bool = false) {
        note(.read(RecordedDay.serialBytes(of: frames)), port: port, isSameRound: isSameRound)
    }

    /// Bare frames as they are on a serial line.
    static func serialBytes(of frames: [[UInt8]]) -> [UInt8] {
        frames.flatMap { frame in
            [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
                StreamEncoder.encode(frame.span, into: &output)
            }
        }
    }

    /// Time passes, and each time that something may be due, the receiver looks.
    mutating func pass(seconds: Int, step: Int = 1) {
        for _ in stride(from: 0, to: seconds, by: step) {
            wait(seconds: Double(step))
            note(.due, port: "collar-link")
        }
    }

    /// The identity of a collar comes in, then its fixes, one a second.
    mutating func receiveFixes(_ sequences: Range<UInt32>, of collar: RecordedCollar, port: String = RecordedDay.port) throws {
        receive(try collar.identity(next: sequences.upperBound), port: port)
        for sequence in sequences {
            wait(seconds: 1)
            receive(try collar.fix(sequence), port: port)
        }
    }
}

/// The frames of a collar.
struct RecordedCollar {
    let log: LogIdentity
    let address: UInt8

    init(_ deviceID: DeviceID = 0xC0, logID: LogID = 77, address: UInt8 = 9) {
        log = LogIdentity(deviceID: deviceID, logID: logID)
        self.address = address
    }

    func identity(next: UInt32 = 0, boot: UInt32 = 1, heartbeat: UInt16 = 60, receiverID: UInt32 = 0) throws -> [UInt8] {
        let identity = Identity(
            log: log, bootCount: boot, oldestSequence: 0, nextSequence: next, pairedReceiverID: receiverID, maximumFrameByteCount: 253,
            firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), capabilities: .sounder, heartbeatSeconds: heartbeat)
        return try frame { output throws(EncodeError) in try identity.encode(address: address, flags: flags(), into: &output) }
    }

    func fix(_ sequence: UInt32, poll: UInt8? = nil) throws -> [UInt8] {
        let fix = Fix(
            sequence: sequence, unixMilliseconds: RecordedDay.start.unixMilliseconds + 1000 * Int64(sequence), latitudeSteps: 5,
            longitudeSteps: 6)
        return try frame { output throws(EncodeError) in
            try AbsoluteFix.encode(fix, address: address, flags: flags(poll), log: log, reference: nil, into: &output)
        }
    }

    func status(lastError: CollarFault = .none) throws -> [UInt8] {
        var status = Status()
        status.lastError = lastError
        status.isTracking = true
        status.gnssState = .fix
        return try frame { output throws(EncodeError) in try status.encode(address: address, flags: flags(), log: log, into: &output) }
    }

    func result(_ requestID: UInt16, _ outcome: CommandResult.Outcome = .ok) throws -> [UInt8] {
        try frame { output throws(EncodeError) in
            try CommandResult(requestID: requestID, outcome: outcome).encode(address: address, flags: flags(), log: log, into: &output)
        }
    }

    private func flags(_ poll: UInt8? = nil) -> FrameFlags { FrameFlags(poll: poll.flatMap { PollNumber(rawValue: $0) }) }

    private func frame(_ body: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) throws -> [UInt8] {
        try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in try body(&output) }
    }
}
