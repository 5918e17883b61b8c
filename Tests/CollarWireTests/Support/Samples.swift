import CollarWire
import Testing

/// A representative frame of a message.
struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let message: Message
    /// The log to which the CRC is bound; nil for a type that is not bound.
    let log: LogIdentity?

    var testDescription: String { name }

    private init(_ name: String, _ message: Message) throws {
        self.name = name
        self.message = message
        let bytes = try frame(of: message, flags: FrameFlags(poll: .first), log: .sample, reference: 40_000)
        let type = try FrameHeader(bytes.span).type
        self.bytes = bytes
        log = type?.isBoundToLog == true ? .sample : nil
    }

    static func all() throws -> [Sample] {
        try [
            Sample("absolute fix, whole seconds", .fix(.sample)),
            Sample("absolute fix, milliseconds", .fix(.sampleWithMilliseconds)),
            Sample("batch", .batch(.sample)),
            Sample("identity", .identity(.sample)),
            Sample("probe", .probe(Probe(logTag: LogIdentity.sample.tag, nextSequence: 40_001))),
            Sample("identity request", .identityRequest(IdentityRequest(receiverID: 0x1234_5678))),
            Sample("acknowledgement", .acknowledgement(.sample)),
            Sample("tombstone", .tombstone(.sample)),
        ] + Message.reportSamples.map { try Sample($0.name, $0.message) }
    }

    static func bound() throws -> [Sample] { try all().filter { $0.log != nil } }
}

extension LogIdentity {
    static let sample = LogIdentity(of: 0x00A1_B2C3_D4E5_F607, logID: 0x2AB_CDEF)

    /// A log whose id is the low 26 bits of `logID`.
    init(of deviceID: DeviceID, logID: UInt32) { self.init(deviceID: deviceID, logID: LogID(lowBitsOf: logID)) }
}

extension Fix {
    static let sample = Fix(
        sequence: 40_000, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 4_776_543,
        longitudeSteps: -12_234_567, altitudeSteps: 123, horizontalAccuracy: AccuracyCode(rawValue: 57),
        verticalAccuracy: AccuracyCode(rawValue: 61), speedDecimetersPerSecond: 14,
        course: AngleCode(steps: 135), heading: AngleCode(steps: 0), batteryPercent: 87)

    static var sampleWithMilliseconds: Fix {
        var fix = sample
        fix.unixMilliseconds += 123
        return fix
    }
}

extension Batch {
    /// Eight fixes, one a second. The heading of the last one is unknown.
    static let sample: Batch = {
        var fixes: [Fix] = []
        for place in 0..<8 as Range<UInt32> {
            var fix = Fix.sample
            fix.sequence += place
            fix.unixMilliseconds += 1000 * Int64(place)
            fix.latitudeSteps += Int32(place * place % 7)
            if place == 7 { fix.heading = nil }
            fixes.append(fix)
        }
        guard let written = try? batch(of: fixes), let message = try? decoded(written.frame),
            case .batch(let batch) = message
        else { preconditionFailure("eight fixes are a batch") }
        return batch
    }()
}

extension Identity {
    static let sample = Identity(
        log: .sample, bootCount: 12, oldestSequence: 39_000, nextSequence: 40_001,
        pairedReceiverID: 0x1234_5678, maximumFrameByteCount: 51,
        firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
        capabilities: Capabilities(rawValue: 0b101), heartbeatSeconds: 60)
}

extension Acknowledgement {
    static let sample = Acknowledgement(
        receiverID: 0x1234_5678, poll: PollNumber(rawValue: 3), firstMissing: 39_900,
        durable: [39_990...40_000, 39_950...39_970, 39_902...39_902], resend: [100...100, 5_000...5_999])
}

extension Tombstone {
    static let sample = Tombstone(ranges: [12...200, 202...202, 30_000...38_999])
}

extension SequenceRangeList: ExpressibleByArrayLiteral {
    /// A list of at most 32 ranges.
    public init(arrayLiteral elements: ClosedRange<UInt32>...) { self.init(elements) }

    init(_ ranges: [ClosedRange<UInt32>]) {
        self.init()
        for range in ranges {
            guard let range = SequenceRange(range.lowerBound, range.upperBound), append(range) else {
                preconditionFailure("a list holds 32 ranges")
            }
        }
    }

    var ranges: [ClosedRange<UInt32>] { (0..<count).map { self[$0].first...self[$0].last } }
}

extension Status {
    static var sample: Status {
        var status = Status()
        status.isTracking = true
        status.trackingSinceUnixSeconds = 1_700_000_000
        status.gnssState = .fix
        status.throttleState = .lowBattery
        status.batteryPercent = 17
        status.batteryMillivolts = 3456
        status.temperatureCelsius = -7
        status.uptimeSeconds = 86_400
        status.fixesSent = 1234
        status.queueDepth = 5
        status.airtimeMilliseconds = 98_765
        status.clock = Clock(unixMilliseconds: 1_700_000_086_400, uptimeMilliseconds: 417)
        return status
    }
}

extension PowerReport {
    static var sample: PowerReport {
        var report = PowerReport()
        report.mode = .resting
        report.supply = .backup
        report.uptimeSeconds = 86_400
        report.secondsToSearch = 900
        report.failuresInRow = 2
        report.timeToFixTenths = 83
        report.gnssSeconds = 3333
        report.listeningMilliseconds = 434_027
        report.awakeMilliseconds = 1_234_567
        report.searches = 456
        report.failures = 30
        return report
    }
}

extension Settings {
    static func sample(_ direction: Direction) -> Settings {
        var entries = SettingList()
        entries.append(Setting(key: SettingKey.intervalMilliseconds.rawValue, value: 5000))
        entries.append(Setting(key: SettingKey.positionDigits.rawValue, value: 6))
        return Settings(
            direction: direction, requestID: 0x1234, version: SettingsVersion(rawValue: 0x0102_0304_0506_0708), entries: entries)
    }
}

extension LoRaSettings {
    static let sample = LoRaSettings(
        frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: 9, codingRateDenominator: 5,
        preambleSymbols: 8, hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: false, powerDBm: 14)
}

extension Message {
    /// Samples of the messages of sections 13 to 17.
    static var reportSamples: [(name: String, message: Message)] {
        let bytes: [UInt8] = [0, 1, 2, 0, 0xFF]
        let request = ApplicationMessage(kind: .request, code: 7, unixSeconds: 1_700_000_000, data: bytes.span)
        let reply = ApplicationMessage(kind: .reply(to: 812, .busy), code: 7, unixSeconds: 0, data: bytes.span)
        let modem = ModemSettings.Modulation.lora(.sample)
        let all: [(String, Message?)] = [
            ("status", .status(.sample)), ("power report", .powerReport(.sample)), ("settings report", .settings(.sample(.report))),
            ("settings update", .settings(.sample(.update))),
            ("settings request", .settingsRequest(SettingsRequest(requestID: 9))),
            ("command", .command(Command(requestID: 3, receiverID: 0x1234_5678, action: .sound(milliseconds: 900)))),
            ("result", .commandResult(CommandResult(requestID: 3, outcome: .busy))),
            ("message of a collar", request.map { .collarMessage(CollarMessage(sequence: 812, content: $0)) }),
            (
                "message of a host",
                reply.map { .hostMessage(HostMessage(requestID: 77, receiverID: 0x1234_5678, content: $0)) }
            ),
            (
                "radio identity",
                .radioIdentity(
                    RadioIdentity(
                        radioID: 0x1122_3344_5566_7788, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 9),
                        maximumFrameByteCount: 253))
            ),
            ("modem settings", .modemSettings(ModemSettings(modulation: modem, turnaroundMilliseconds: 30))),
            (
                "signal report",
                .signalReport(SignalReport(packetCRC: 0xABCDEF, signal: RadioSignal(strengthDBm: -117, signalToNoiseTenthsDB: -75)))
            ),
        ]
        return all.compactMap { name, message in message.map { (name, $0) } }
    }
}
