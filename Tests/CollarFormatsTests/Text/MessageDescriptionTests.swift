import CollarFormats
import CollarWire
import Testing

/// Descriptions of messages for people.
@Suite struct MessageDescriptionTests {
    private func header(_ type: MessageType, flags: UInt8) throws -> FrameHeader {
        try FrameHeader(([0x20 | type.rawValue, flags, 17, 0, 0, 0, 0] as [UInt8]).span)
    }

    @Test(arguments: [(0, "none"), (60, "below 60")] as [(UInt32, String)])
    func anIdentityTellsWhatIsDeliveredElsewhere(value: UInt32, text: String) throws {
        let log = LogIdentity(deviceID: 1, logID: 2)
        let identity = Identity(
            log: log, bootCount: 1, oldestSequence: 100, nextSequence: 103, pairedReceiverID: 7,
            maximumFrameByteCount: 51, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
            capabilities: .compass, heartbeatSeconds: 60, deliveredElsewhere: value)
        let fields = MessageDescription.fields(of: .identity(identity))
        #expect(fields.last?.name == "delivered elsewhere")
        #expect(fields.last?.value == text)
    }

    @Test(arguments: [
        (.tombstone, 0b0000_0010, "tombstone, address 17, poll 2"),
        (.tombstone, 0b0000_1010, "tombstone, address 17, poll 2, delivered elsewhere"),
        (.tombstone, 0b0001_1000, "tombstone, address 17, delivered elsewhere, unknown flags 10"),
        (.probe, 0b0000_1000, "probe, address 17, unknown flags 08"),
        (.powerReport, 0b0000_0001, "power report, address 17, poll 1"),
    ] as [(MessageType, UInt8, String)])
    func aLineOfAHeaderNamesTheFlags(type: MessageType, flags: UInt8, line: String) throws {
        #expect(MessageDescription.line(of: try header(type, flags: flags)) == line)
    }

    private func lines(of message: Message) -> [String] {
        MessageDescription.fields(of: message).map { "\($0.name): \($0.value)" }
    }

    @Test func aPowerReportHasEveryFieldWithItsUnit() {
        var report = PowerReport()
        report.mode = .noSky
        report.supply = .backup
        report.uptimeSeconds = 86_400
        report.secondsToSearch = 900
        report.failuresInRow = 3
        report.timeToFixTenths = 83
        report.gnssSeconds = 3333
        report.listeningMilliseconds = 434_027
        report.awakeMilliseconds = 1_234_567
        report.searches = 456
        report.failures = 30
        #expect(
            lines(of: .powerReport(report)) == [
                "mode: noSky", "GNSS supply: backup", "uptime: 86400 s", "next search: in 900 s", "failures in a row: 3",
                "last time to a position: 8.3 s", "GNSS on: 3333 s", "listening: 434027 ms", "awake: 1234567 ms", "searches: 456",
                "failures: 30",
            ])
        let unknown = lines(of: .powerReport(PowerReport()))
        #expect(unknown.contains("next search: none planned") && unknown.contains("last time to a position: unknown"))
    }

    @Test func aStatusTellsThatTheReceiverRests() {
        var status = Status()
        status.gnssState = .fix
        #expect(lines(of: .status(status)).contains("GNSS: fix"))
        status.isResting = true
        #expect(lines(of: .status(status)).contains("GNSS: fix, rests until the next search"))
        status.lastError = .gnssNotSwitched
        #expect(lines(of: .status(status)).contains("last error: 9 (gnss_not_switched)"))
    }

    @Test(arguments: [
        (.find(seconds: 3600), "find for 3600 s"), (.find(seconds: 0), "end find"), (.reportPower, "report power"),
    ] as [(Command.Action, String)])
    func aCommandTellsItsArgument(action: Command.Action, text: String) {
        #expect(lines(of: .command(Command(requestID: 1, receiverID: 2, action: action))).contains("action: \(text)"))
    }
}
