import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// What passes through a base radio, and what it says of itself.
@Suite struct BaseRadioTests {
    private static let introduction: [Message] = [
        .radioIdentity(BaseRadioBench.identity), .modemSettings(BaseRadioBench.modem),
    ]

    @Test func introducesItselfAfterAStart() throws {
        var bench = BaseRadioBench(isIntroduced: false)
        #expect(try unboundMessages(in: bench.readAll()) == Self.introduction)
        #expect(bench.readAll().isEmpty)
    }

    /// Also a restart in the middle of its introduction begins with the identity.
    @Test func answersItsOwnAddress() throws {
        var bench = BaseRadioBench(isIntroduced: false)
        _ = bench.nextBytes()
        bench.write(try identityRequest(address: 0))
        #expect(try unboundMessages(in: bench.readAll()) == Self.introduction)
        #expect(bench.nextPacket() == nil)
    }

    /// A host that opens the port asks everybody: the collars and the base radio.
    @Test func answersWhatAsksEverybody() throws {
        var bench = BaseRadioBench()
        let request = try identityRequest(address: 255)
        bench.write(request)
        #expect(try unboundMessages(in: bench.readAll()) == Self.introduction)
        #expect(bench.sendAll() == [request])
    }

    @Test func answersNoDamagedRequestAndNoOtherFrame() throws {
        var bench = BaseRadioBench()
        var request = try identityRequest(address: 0)
        request[5] ^= 1
        bench.write(request)
        bench.write(packet(1, address: 0))
        bench.write(try identityRequest(address: 9))
        #expect(bench.readAll().isEmpty)
    }

    @Test func packetsPassUnchangedWithTheirSignal() throws {
        var bench = BaseRadioBench()
        let packets = [packet(1), packet(2, byteCount: 253), packet(3, byteCount: 7)]
        for (index, one) in packets.enumerated() { bench.hear(one, strengthDBm: Int16(-90 - index)) }
        let frames = bench.readAll()
        #expect(frames.count == 6)
        for (index, one) in packets.enumerated() {
            #expect(frames[2 * index] == one)
            let signal = RadioSignal(strengthDBm: Int16(-90 - index), signalToNoiseTenthsDB: -35)
            let report = SignalReport(packetCRC: sentCRC(of: one), signal: signal)
            #expect(try unboundMessages(in: [frames[2 * index + 1]]) == [.signalReport(report)])
        }
    }

    @Test func aReportComesRightAfterItsPacket() throws {
        var bench = BaseRadioBench()
        bench.hear(packet(1))
        bench.hear(packet(2))
        _ = bench.nextBytes()
        bench.write(try identityRequest(address: 0))
        let frames = bench.readAll()
        let report = SignalReport(
            packetCRC: sentCRC(of: packet(1)),
            signal: RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: -35))
        #expect(try unboundMessages(in: Array(frames[..<3])) == [.signalReport(report)] + Self.introduction)
        #expect(frames[3] == packet(2))
    }

    /// Nobody on the air speaks for the base radio; what cannot be a frame does not pass.
    @Test func noiseAndForgedFramesDoNotPass() {
        var bench = BaseRadioBench()
        bench.hear(packet(1, address: 0))
        bench.hear([1, 2, 3, 4, 5, 6])
        bench.hear([])
        bench.hear(packet(1, byteCount: 254))
        #expect(bench.readAll().isEmpty)
    }

    @Test func framesOfTheHostPassUnchanged() {
        var bench = BaseRadioBench()
        let frames = [packet(1), packet(2, address: 255), packet(3, byteCount: 200)]
        for frame in frames { bench.write(frame) }
        #expect(bench.sendAll() == frames)
    }

    @Test func whatTheRadioCannotCarryIsDropped() {
        var bench = BaseRadioBench()
        bench.write(packet(1, byteCount: 201))
        bench.write(packet(2))
        #expect(bench.sendAll() == [packet(2)])
    }

    /// A line without sense does not stop the base radio.
    @Test func garbageOfAHostIsSkipped() {
        var bench = BaseRadioBench()
        var random = UInt32(1)
        let garbage = (0..<10_000).map { _ -> UInt8 in
            random = random &* 1_664_525 &+ 1_013_904_223
            return UInt8(random &>> 24 | 1)
        }
        bench.radio.receiveFromHost(garbage.span, now: bench.now)
        bench.write(packet(2))
        #expect(bench.sendAll() == [packet(2)])
    }

    /// While the radio sends, the next frame waits; it is not dropped because of that.
    @Test func sendsOneFrameAtATime() {
        var bench = BaseRadioBench()
        for number in 1...3 { bench.write(packet(number, byteCount: 150)) }
        #expect(bench.nextPacket() == packet(1, byteCount: 150))
        #expect(bench.nextPacket() == nil)
        #expect(bench.radio.nextDeadline(now: bench.now) == nil)
        bench.wait(microseconds: 150_000)
        bench.radio.transmissionEnded(now: bench.now)
        #expect(bench.radio.nextDeadline(now: bench.now) == bench.now)
        #expect(bench.sendAll() == [packet(2, byteCount: 150), packet(3, byteCount: 150)])
        #expect(bench.radio.nextDeadline(now: bench.now) == nil)
    }
}
