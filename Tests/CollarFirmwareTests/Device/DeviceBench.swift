import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

/// A collar that makes a reading at fixed intervals, and a receiver, in virtual time. Frames take no time; a receiver in reach
/// acknowledges everything a millisecond after each poll.
struct DeviceBench {
    /// A frame that the collar sent.
    struct Sent {
        let at: Instant
        let type: MessageType
        let message: Message?
    }

    static let receiver: UInt32 = 77
    static let modem = ModemProfile(nanosecondsPerByte: 1000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: 40_000)

    var device: CollarDevice<MemoryFlash>
    private(set) var now = Instant(microseconds: 0)
    var isInReach = true
    /// Time between two readings, in microseconds.
    var readingMicroseconds: Int64 = 1_000_000
    /// The time from switching on the receiver to the first reading, in seconds; nil if there are readings whatever the supply is.
    var timeToFix: Int64?
    /// How long the receiver was on, in readings.
    private(set) var onCount = 0
    private var onSince: Instant?
    /// The next reading; its time follows the clock.
    var reading = GNSSReading(
        unixMilliseconds: 0, latitudeE7: 473_000_000, longitudeE7: 85_000_000, horizontalAccuracyMillimeters: 3000)
    /// How far north the collar moves between two readings, in 1e-7 degree: 11.1 mm.
    var stepE7: Int32 = 0
    private(set) var sent: [Sent] = []
    /// When each sequence was logged, for entries made by readings.
    private(set) var logged: [Instant] = []
    private var nextReading = Instant(microseconds: 0)
    private var answerDue: (at: Instant, poll: PollNumber)?

    static let unixStart: Int64 = 1_700_000_000_000

    init(cause: ResetCause = .external, dutyCyclePartsPerMillion: Int64? = nil, modem: ModemProfile = DeviceBench.modem) throws {
        let configuration = Collar<MemoryFlash>.Configuration(
            deviceID: deviceID, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
            capabilities: Capabilities(rawValue: Capabilities.sounder.rawValue | Capabilities.messages.rawValue),
            delivery: CollarDelivery.Configuration(
                modem: modem, sendsLiveFixes: true, batchFrameByteLimit: 253, dutyCyclePartsPerMillion: dutyCyclePartsPerMillion))
        device = try CollarDevice(
            starting: configuration, flash: MemoryFlash(blockByteCount: 4096, blockCount: 40), cause: cause, randomLogID: 5, now: now)
    }

    /// Lets the time pass.
    mutating func run(milliseconds: Int64) throws {
        let end = now.advanced(byMicroseconds: milliseconds * 1000)
        while true {
            try sendAll()
            var next = min(nextReading, device.nextDeadline(now: now, isSending: false) ?? end)
            if let answerDue { next = min(next, answerDue.at) }
            guard next < end else { break }
            now = max(next, now)
            try device.deadlineReached(now: now)
            if let due = answerDue, due.at <= now {
                answerDue = nil
                try acknowledge(due.poll)
            }
            if nextReading <= now { try read() }
        }
        now = end
    }

    private mutating func read() throws {
        nextReading = nextReading.advanced(byMicroseconds: readingMicroseconds)
        reading.unixMilliseconds = Self.unixStart + now.microseconds / 1000
        reading.latitudeE7 += stepE7
        guard hasPosition() else { return }
        if try device.gnssRead(reading, now: now) != nil { logged.append(now) }
    }

    /// Whether the receiver has its supply and has found its position.
    private mutating func hasPosition() -> Bool {
        guard let timeToFix else { return true }
        guard device.gnssSupply == .on else {
            onSince = nil
            return false
        }
        onCount += 1
        let begin = onSince ?? now
        onSince = begin
        let isFound = now.microseconds(since: begin) >= timeToFix * 1_000_000
        device.gnssChanged(to: isFound ? .fix : .searching, fault: nil, now: now)
        return isFound
    }

    private mutating func sendAll() throws {
        while true {
            var isFrame = false
            let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
                isFrame = try device.nextFrame(now: now, into: &output)
            }
            guard isFrame else { return }
            device.frameSent(now: now)
            let header = try FrameHeader(frame.span)
            let reference = max(device.collar.nextSequence, 1) - 1
            // The bench does not keep the anchors of live fixes.
            let message = header.type == .liveFix
                ? nil : try Message.decode(frame.span, log: device.collar.log, reference: reference)
            sent.append(Sent(at: now, type: try #require(header.type), message: message))
            if isInReach, let poll = header.flags.poll { answerDue = (now.advanced(byMicroseconds: 1000), poll) }
        }
    }

    private mutating func acknowledge(_ poll: PollNumber) throws {
        let answer = Acknowledgement(receiverID: Self.receiver, poll: poll, firstMissing: device.collar.nextSequence)
        try receive { output, log throws(EncodeError) in try answer.encode(address: 9, log: log, into: &output) }
    }

    /// The collar receives a frame of its receiver.
    @discardableResult
    mutating func receive(
        _ write: (inout OutputSpan<UInt8>, LogIdentity) throws(EncodeError) -> Void
    ) throws -> Collar<MemoryFlash>.Reception {
        let log = device.collar.log
        let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in try write(&output, log) }
        return try device.receive(frame.span, now: now)
    }

    @discardableResult
    mutating func command(
        _ requestID: UInt16, _ action: Command.Action, by receiver: UInt32 = DeviceBench.receiver
    ) throws -> Collar<MemoryFlash>.Reception {
        let command = Command(requestID: requestID, receiverID: receiver, action: action)
        return try receive { output, log throws(EncodeError) in try command.encode(address: 9, log: log, into: &output) }
    }

    /// Changes settings; the collar must be paired.
    mutating func set(_ values: KeyValuePairs<SettingKey, UInt32>) throws {
        var entries = SettingList()
        for (key, value) in values { entries.append(Setting(key: key.rawValue, value: value)) }
        let version = SettingsVersion(rawValue: device.collar.settings.version.rawValue + 1 << 20)
        let update = Settings(direction: .update, requestID: 900, version: version, entries: entries)
        let reception = try receive { output, log throws(EncodeError) in
            try update.encode(address: 9, flags: FrameFlags(poll: nil), log: log, into: &output)
        }
        #expect(reception == .settingsChanged)
    }

    /// Holds the button for so long.
    mutating func press(milliseconds: Int64 = 100) throws {
        try device.buttonRead(isPressed: true, now: now)
        try run(milliseconds: milliseconds)
        try device.buttonRead(isPressed: false, now: now)
    }

    /// Removes and returns the frames sent so far.
    mutating func takeSent() -> [Sent] {
        defer { sent = [] }
        return sent
    }

    /// The statuses among the frames sent so far.
    var statuses: [Status] { sent.compactMap { if case .status(let status)? = $0.message { status } else { nil } } }

    /// The power reports among the frames sent so far, and when they were sent.
    var powerReports: [(at: Instant, report: PowerReport)] {
        sent.compactMap { if case .powerReport(let report)? = $0.message { ($0.at, report) } else { nil } }
    }

    /// The results among the frames sent so far.
    var results: [CommandResult] { sent.compactMap { if case .commandResult(let result)? = $0.message { result } else { nil } } }
}
