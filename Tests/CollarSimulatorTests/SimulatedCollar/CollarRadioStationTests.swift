import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

/// The simulated radio between a collar and a host.
@Suite struct CollarRadioStationTests {
    private static let modem = ModemProfile(
        nanosecondsPerByte: 100_000, frameOverheadMicroseconds: 500, turnaroundMicroseconds: 30_000)

    private static func track(_ count: Int) -> [Fix] {
        var fixes: [Fix] = []
        for sequence in 0..<UInt32(count) {
            let time: Int64 = 1_700_000_000_000 + Int64(sequence) * 1000
            let steps = Int32(sequence)
            fixes.append(
                Fix(sequence: sequence, unixMilliseconds: time, latitudeSteps: 37 * steps, longitudeSteps: 91 * steps))
        }
        return fixes
    }

    private func station(fixes: Int, loss: Double = 0) throws -> SharedRadio<MemoryFlash> {
        let device = try CollarDevice(
            starting: .init(
                deviceID: 0xABC, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
                delivery: CollarDelivery.Configuration(modem: Self.modem)),
            flash: MemoryFlash(blockByteCount: 512, blockCount: 10), cause: .external, randomLogID: 5, now: Instant(microseconds: 0))
        let station = try CollarRadioStation(
            device: device, address: 9, radio: LossyRadio(lossProbability: loss, corruptionProbability: 0, seed: 1),
            modem: Self.modem,
            track: SimulatedTrack(fixes: Self.track(fixes), pace: .interval(microseconds: 3_600_000_000)),
            start: Instant(microseconds: 0))
        return SharedRadio([station], modem: Self.modem)
    }

    private func serial(_ frame: [UInt8]) -> [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }

    private func answer(poll: PollNumber, firstMissing: UInt32) throws -> [UInt8] {
        let log = LogIdentity(deviceID: 0xABC, logID: 5)
        let answer = Acknowledgement(receiverID: 77, poll: poll, firstMissing: firstMissing)
        return serial(try [UInt8](capacity: 253) { output in try answer.encode(address: 9, log: log, into: &output) })
    }

    private var question: [UInt8] {
        get throws {
            serial(
                try [UInt8](capacity: 253) { output in
                    try IdentityRequest(receiverID: 77).encode(address: Frame.broadcastAddress, into: &output)
                })
        }
    }

    @Test func aFrameTakesItsAirtime() throws {
        var station = try station(fixes: 1)
        #expect(try station.advance(to: Instant(microseconds: 0)) == [])
        #expect(station.statistics.uplinkFrames == 1)
        let airtime = Self.modem.airtimeMicroseconds(frameByteCount: station.statistics.uplinkBytes)
        #expect(station.statistics.airtimeMicroseconds == airtime)
        #expect(station.nextDeadline == Instant(microseconds: airtime))
        #expect(try station.advance(to: Instant(microseconds: airtime - 1)) == [])
        #expect(!station.isAnswerExpected)
        let bytes = try station.advance(to: Instant(microseconds: airtime))
        #expect(bytes.count == station.statistics.uplinkBytes + 3)
        #expect(station.isAnswerExpected)
    }

    @Test func anAnswerIsWorthItsAirtimeAndEndsTheExpectation() throws {
        var station = try station(fixes: 1)
        _ = try station.advance(to: station.nextDeadline)
        _ = try station.advance(to: station.nextDeadline)
        let now = station.nextDeadline.advanced(byMicroseconds: -1)
        station.receive(try answer(poll: .first, firstMissing: 1), now: now)
        #expect(!station.isAnswerExpected)
        #expect(!station.isDelivered)
        #expect(station.statistics.downlinkFrames == 1)
        while !station.isDelivered, station.nextDeadline.microseconds < 10_000_000 {
            _ = try station.advance(to: station.nextDeadline)
        }
        #expect(station.isDelivered)
    }

    @Test func bytesThatReachedNobodyAreNotAnswered() throws {
        var station = try station(fixes: 1)
        _ = try station.advance(to: station.nextDeadline)
        _ = try station.advance(to: station.nextDeadline)
        #expect(station.isAnswerExpected)
        station.serialBytesWereDropped()
        #expect(!station.isAnswerExpected)
    }

    @Test func idleTimeIsSkippedOnlyWhereEverythingIsDelivered() throws {
        var station = try station(fixes: 2)
        _ = try station.advance(to: station.nextDeadline)
        let sent = station.nextDeadline
        station.skipIdleTime(now: sent)
        #expect(station.nextDeadline == sent)
        _ = try station.advance(to: sent)
        station.receive(try answer(poll: .first, firstMissing: 1), now: sent)
        // The collar tells that it has found its position.
        _ = try station.advance(to: station.nextDeadline)
        let told = station.nextDeadline
        _ = try station.advance(to: told)
        station.receive(try answer(poll: PollNumber.first.next, firstMissing: 1), now: told)
        let heard = station.nextDeadline
        _ = try station.advance(to: heard)
        #expect(station.statistics.uplinkFrames == 2)
        #expect(station.nextDeadline.microseconds(since: heard) > 100_000)
        station.skipIdleTime(now: heard)
        #expect(station.nextDeadline == heard)
        // The next fix waits until half a second after the first.
        while station.statistics.uplinkFrames == 2, station.nextDeadline.microseconds < 600_000 {
            _ = try station.advance(to: station.nextDeadline)
        }
        #expect(station.statistics.uplinkFrames == 3)
    }

    /// A short frame overtakes a long one if both are handed over at the same time.
    @Test func timeGoesOnWhenAShortFrameFollowsALongOne() throws {
        var station = try station(fixes: 1)
        _ = try station.advance(to: station.nextDeadline)
        let now = station.nextDeadline
        _ = try station.advance(to: now)
        station.receive(try answer(poll: .first, firstMissing: 1), now: now)
        station.receive(try question, now: now)
        var steps = 0
        while steps < 100, station.nextDeadline.microseconds < 3_000_000 {
            _ = try station.advance(to: station.nextDeadline)
            steps += 1
        }
        #expect(steps < 100, "time stands still at \(station.nextDeadline)")
        #expect(station.isDelivered)
    }

    /// A half-duplex collar does not hear an answer that comes while it sends, but hears one that comes after its frame.
    @Test(arguments: [true, false])
    func whoSendsIsDeafOnAHalfDuplexLink(isDuringFrame: Bool) throws {
        let modem = SimulatedModem.lora(spreadingFactor: 7).profile
        var station = SharedRadio([try halfDuplexStation(address: 9, modem: modem, start: 0)], modem: modem)
        #expect(try station.advance(to: Instant(microseconds: 0)) == [])
        let end = station.nextDeadline
        if !isDuringFrame { _ = try station.advance(to: end) }
        let answer = try answer(poll: .first, firstMissing: 1)
        station.receive(answer, now: end.advanced(byMicroseconds: isDuringFrame ? -1000 : 1000))
        if isDuringFrame { _ = try station.advance(to: end) }
        let airtime = modem.airtimeMicroseconds(frameByteCount: answer.count - 3)
        #expect(station.statistics.downlinkAirtimeMicroseconds == airtime)
        _ = try station.advance(to: end.advanced(byMicroseconds: 1000 + airtime))
        #expect(station.isDelivered == !isDuringFrame)
    }

    private func halfDuplexStation(
        address: UInt8, modem: ModemProfile, start: Int64
    ) throws -> CollarRadioStation<MemoryFlash> {
        let device = try CollarDevice(
            starting: .init(
                deviceID: 0xABC, address: address, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
                delivery: CollarDelivery.Configuration(modem: modem)),
            flash: MemoryFlash(blockByteCount: 512, blockCount: 10), cause: .external, randomLogID: 5, now: Instant(microseconds: start))
        return try CollarRadioStation(
            device: device, address: address,
            radio: LossyRadio(lossProbability: 0, corruptionProbability: 0, seed: 1), modem: modem,
            track: SimulatedTrack(fixes: Self.track(1), pace: .speed(1)), start: Instant(microseconds: start))
    }

    /// Two collars begin to send `apart` microseconds apart; the first frame lasts longer than 1 ms and less than a second.
    @Test(arguments: [(true, 1000 as Int64, 2), (true, 1_000_000, 0), (false, 1000, 0)])
    func framesOnTheAirAtTheSameTimeDestroyEachOther(isHalfDuplex: Bool, apart: Int64, collisions: Int) throws {
        let modem = isHalfDuplex ? SimulatedModem.lora(spreadingFactor: 7).profile : SimulatedModem.ble.profile
        var radio = SharedRadio(
            [
                try halfDuplexStation(address: 9, modem: modem, start: 0),
                try halfDuplexStation(address: 10, modem: modem, start: apart),
            ], modem: modem)
        var arrived: [UInt8] = []
        while radio.statistics.uplinkFrames < 2 || radio.stations.contains(where: { $0.transmission != nil }) {
            try #require(radio.nextDeadline.microseconds < 1_500_000)
            arrived += try radio.advance(to: radio.nextDeadline)
        }
        #expect(radio.statistics.collisions == collisions)
        #expect(arrived.isEmpty == (collisions > 0))
    }

    /// The base radio sends to one collar while another sends: neither frame is heard.
    @Test func aFrameOfTheBaseRadioCollidesToo() throws {
        let modem = SimulatedModem.lora(spreadingFactor: 7).profile
        var radio = SharedRadio(
            [
                try halfDuplexStation(address: 9, modem: modem, start: 0),
                try halfDuplexStation(address: 10, modem: modem, start: 200_000),
            ], modem: modem)
        #expect(try radio.advance(to: Instant(microseconds: 0)) == [])
        #expect(try !radio.advance(to: radio.nextDeadline).isEmpty)
        radio.receive(try answer(poll: .first, firstMissing: 1), now: Instant(microseconds: 199_000))
        var arrived: [UInt8] = []
        while radio.nextDeadline.microseconds < 400_000 { arrived += try radio.advance(to: radio.nextDeadline) }
        #expect(radio.stations[1].statistics.collisions == 1)
        #expect(radio.stations[0].statistics.downlinkFrames == 0)
        #expect(radio.statistics.downlinkFrames == 1)
        #expect(arrived.isEmpty)
        #expect(!radio.stations[0].isDelivered)
    }
}
