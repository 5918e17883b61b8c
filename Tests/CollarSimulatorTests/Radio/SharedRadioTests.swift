import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import RadioModems
import Testing

/// Collars that are heard through a stick with another firmware.
@Suite("Collars behind a stick") struct SharedStickTests {
    private static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)

    private func radio(_ dialect: Dialect, fixes: Int = 1) throws -> SharedRadio<MemoryFlash> {
        let modem = Self.settings.profile(of: dialect)
        let device = try CollarDevice(
            starting: .init(
                deviceID: 0xABC, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
                delivery: CollarDelivery.Configuration(modem: modem)),
            flash: MemoryFlash(blockByteCount: 512, blockCount: 10), cause: .external, randomLogID: 5, now: Instant(microseconds: 5_000_000))
        let track = (0..<UInt32(fixes)).map { number in
            Fix(sequence: number, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 1)
        }
        let station = try CollarRadioStation(
            device: device, address: 9, radio: LossyRadio(lossProbability: 0, corruptionProbability: 0, seed: 1),
            modem: modem, dialect: dialect,
            track: SimulatedTrack(fixes: track, pace: .interval(microseconds: 3_600_000_000)),
            start: Instant(microseconds: 5_000_000))
        return SharedRadio(
            [station], modem: modem, channel: Self.settings, stick: dialect.makeStick(modem: modem, seed: 1), seed: 2)
    }

    private static func set(_ dialect: Dialect) -> [[UInt8]] {
        switch dialect {
        case .serial: []
        case .kiss:
            [bytes("C0 06 09 08 E6 D3 33 48 E8 01 00 07 05 C0"), bytes("C0 05 00 C0 C0 02 FF C0 C0 01 00 C0")]
        case .rnode:
            [bytes("C0 01 33 D3 E6 08 C0 C0 02 00 01 E8 48 C0 C0 04 07 C0 C0 05 05 C0 C0 06 01 C0")]
        case .rui3: ["AT+NWM=0\r\n", "AT+SYNCWORD=1424\r\n", "AT+P2P=869525000:7:125:0:8:14\r\n", "AT+PRECV=65533\r\n"].map { Array($0.utf8) }
        }
    }

    /// What a host writes to send a frame.
    private static func data(_ frame: [UInt8], in dialect: Dialect) -> [UInt8] {
        switch dialect {
        case .rui3: Array("AT+PSEND=\(digits(frame).replacing(" ", with: ""))\r\n".utf8)
        case .serial, .kiss, .rnode:
            [0xC0, 0x00]
                + frame.flatMap { $0 == 0xC0 ? [0xDB, 0xDC] : $0 == 0xDB ? [0xDB, 0xDD] : [$0] } + [0xC0]
        }
    }

    /// Lets time pass until a time, or until a condition holds.
    private func run(
        _ radio: inout SharedRadio<MemoryFlash>, from start: Instant, until end: Instant,
        or isEnough: (SharedRadio<MemoryFlash>) -> Bool = { _ in false }
    ) throws -> (now: Instant, bytes: [UInt8]) {
        var (now, output): (Instant, [UInt8]) = (start, [])
        while !isEnough(radio), radio.nextDeadline <= end {
            now = max(now, radio.nextDeadline)
            output += try radio.advance(to: now)
        }
        return (isEnough(radio) ? now : end, output)
    }

    @Test("a fix reaches the host, and its answer the collar", arguments: [Dialect.kiss, .rnode, .rui3])
    func exchange(dialect: Dialect) throws {
        var radio = try radio(dialect)
        var now = Instant(microseconds: 1000)
        #expect(radio.keepsRealTime(now: now))
        for written in Self.set(dialect) {
            radio.receive(written, now: now)
            now = try run(&radio, from: now, until: now.advanced(byMicroseconds: 1_200_000)).now
        }
        #expect(!radio.keepsRealTime(now: now))
        let heard = try run(&radio, from: now, until: Instant(microseconds: 7_000_000)) { $0.isAnswerExpected }
        let arrived = try run(&radio, from: heard.now, until: heard.now.advanced(byMicroseconds: 30_000))
        #expect(heard.bytes.count + arrived.bytes.count > 20)
        #expect(radio.keepsRealTime(now: arrived.now))
        let log = LogIdentity(deviceID: 0xABC, logID: 5)
        let answer = Acknowledgement(receiverID: 77, poll: .first, firstMissing: 1)
        let frame = try [UInt8](capacity: 253) { output in try answer.encode(address: 9, log: log, into: &output) }
        radio.receive(Self.data(frame, in: dialect), now: arrived.now)
        #expect(radio.isAnswerExpected)
        let end = try run(&radio, from: arrived.now, until: arrived.now.advanced(byMicroseconds: 1_000_000)) { $0.isDelivered }
        #expect(radio.isDelivered)
        #expect(!radio.isAnswerExpected)
        #expect(radio.statistics.downlinkFrames == 1)
        #expect(end.now.microseconds(since: arrived.now) < Self.settings.turnaroundMicroseconds(of: dialect) + 100_000)
    }

    @Test("a stick whose radio has other settings hears nothing, and is not heard", arguments: [
        // Another frequency, bandwidth and spreading factor; and a frequency that is 9 kHz apart.
        ("A0 20 D4 33 48 E8 01 00 07 05", false), ("08 E6 D3 33 90 D0 03 00 07 05", false),
        ("08 E6 D3 33 48 E8 01 00 08 05", false), ("30 09 D4 33 48 E8 01 00 07 08", true),
    ])
    func otherSettings(settings: String, isHeard: Bool) throws {
        var radio = try radio(.kiss)
        radio.receive(bytes("C0 06 09 \(settings) C0"), now: Instant(microseconds: 0))
        radio.receive(bytes("C0 05 00 C0 C0 02 FF C0 C0 01 00 C0"), now: Instant(microseconds: 0))
        _ = try run(&radio, from: Instant(microseconds: 0), until: Instant(microseconds: 100_000))
        let heard = try run(&radio, from: Instant(microseconds: 100_000), until: Instant(microseconds: 6_000_000))
        #expect(heard.bytes.isEmpty == !isHeard)
        #expect(radio.isAnswerExpected == isHeard)
        #expect(radio.keepsRealTime(now: heard.now))
        let request = try [UInt8](capacity: 253) { output in
            try IdentityRequest(receiverID: 77).encode(address: Frame.broadcastAddress, into: &output)
        }
        radio.receive(Self.data(request, in: .kiss), now: heard.now)
        _ = try run(&radio, from: heard.now, until: heard.now.advanced(byMicroseconds: 2_000_000))
        #expect(radio.statistics.downlinkFrames == 1)
        #expect(radio.stations[0].statistics.downlinkFrames == (isHeard ? 1 : 0))
    }

    @Test("a collar's packet through an RNode is one byte longer on the air")
    func airtime() throws {
        var radio = try radio(.rnode)
        _ = try run(&radio, from: Instant(microseconds: 0), until: Instant(microseconds: 5_000_000))
        let count = radio.statistics.uplinkBytes
        var plain = Self.settings.profile(of: .rui3)
        plain.frameOverheadMicroseconds = Self.settings.profile(of: .rnode).frameOverheadMicroseconds
        #expect(radio.statistics.uplinkFrames == 1)
        #expect(radio.statistics.airtimeMicroseconds == plain.airtimeMicroseconds(frameByteCount: count + 1))
    }
}
