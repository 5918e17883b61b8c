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

/// A base radio whose host, duty cycle or radio does not keep up.
@Suite struct BaseRadioLimitTests {
    /// The oldest packets make room: the newest ones hold the poll that is open.
    @Test func aSlowHostGetsTheNewestPackets() {
        var bench = BaseRadioBench()
        for number in 1...20 { bench.hear(packet(number)) }
        let packets = bench.readAll().filter { $0[2] == 9 }
        #expect(packets == (13...20).map { packet($0) })
    }

    /// A packet that the line has begun to take is not affected, nor is its report.
    @Test func aSlowHostGetsWholePackets() throws {
        var bench = BaseRadioBench()
        bench.hear(packet(0))
        let first = bench.nextBytes()
        for number in 1...40 { bench.hear(packet(number)) }
        #expect(first.count == packet(0).count + 3)
        let frames = bench.readAll()
        let report = SignalReport(
            packetCRC: sentCRC(of: packet(0)),
            signal: RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: -35))
        #expect(try unboundMessages(in: [frames[0]]) == [.signalReport(report)])
        #expect(frames[1] == packet(33))
        #expect(frames.count == 1 + 2 * 8)
    }

    /// The newest frames of a host that writes too much are sent.
    @Test func aHostThatWritesTooMuchLosesTheOldestFrames() {
        var bench = BaseRadioBench()
        for number in 1...30 { bench.write(packet(number)) }
        #expect(bench.sendAll() == (27...30).map { packet($0) })
    }

    /// After the turnaround no collar listens any more.
    @Test func aLateFrameIsNotSent() {
        var bench = BaseRadioBench()
        bench.write(packet(1))
        bench.wait(microseconds: 60_000)
        bench.write(packet(2))
        bench.wait(microseconds: 40_001)
        #expect(bench.sendAll() == [packet(2)])
    }

    @Test func keepsToItsDutyCycle() {
        // 1 %: 36 s an hour, of which 9 s may be saved up.
        var bench = BaseRadioBench(dutyCyclePartsPerMillion: 10_000)
        var airtimes: [(end: Int64, microseconds: Int64)] = []
        var sentCount = 0
        for _ in 0..<(3 * 3600 * 10) {
            bench.write(packet(1, byteCount: 50))
            for packet in bench.sendAll() {
                airtimes.append((bench.now.microseconds, bench.radio.airtimeMicroseconds(packetByteCount: packet.count)))
                sentCount += 1
            }
            bench.wait(microseconds: 100_000)
        }
        var worst: Int64 = 0
        var first = 0
        var sum: Int64 = 0
        for airtime in airtimes {
            sum += airtime.microseconds
            while airtimes[first].end <= airtime.end - 3_600_000_000 {
                sum -= airtimes[first].microseconds
                first += 1
            }
            worst = max(worst, sum)
        }
        #expect(worst <= 36_000_000)
        #expect(worst > 26_000_000)
    }

    /// A restart gains no airtime.
    @Test func theBudgetIsEmptyAfterAStart() {
        var bench = BaseRadioBench(dutyCyclePartsPerMillion: 10_000)
        bench.write(packet(1, byteCount: 50))
        #expect(bench.sendAll().isEmpty)
        // 50 bytes at 1 ms each, of which 0.75 % of the time are gained.
        bench.wait(microseconds: 6_600_000)
        bench.write(packet(2, byteCount: 50))
        #expect(bench.nextPacket() == nil)
        guard let due = bench.radio.nextDeadline(now: bench.now) else {
            Issue.record("a frame waits")
            return
        }
        #expect(due.microseconds(since: bench.now) > 0 && due.microseconds(since: bench.now) < 100_000)
        bench.now = due
        #expect(bench.nextPacket() == packet(2, byteCount: 50))
    }

    /// A frame that the duty cycle does not cover in time is dropped, and its deadline says when.
    @Test func theDutyCycleDropsWhatWouldBeLate() {
        var bench = BaseRadioBench(dutyCyclePartsPerMillion: 10_000)
        bench.write(packet(1, byteCount: 50))
        let due = bench.radio.nextDeadline(now: bench.now)
        #expect(due == bench.now.advanced(byMicroseconds: 100_001))
        bench.wait(microseconds: 100_001)
        #expect(bench.nextPacket() == nil)
        #expect(bench.radio.nextDeadline(now: bench.now) == nil)
    }
}

/// A base radio, its host and its air, without time of their own.
struct BaseRadioBench: ~Copyable {
    static let identity = RadioIdentity(
        radioID: 0xFEDC_BA98_7654_3210, firmwareVersion: FirmwareVersion(major: 2, minor: 0, patch: 11),
        maximumFrameByteCount: 200)
    static let modem = ModemSettings(modulation: .serial(bitsPerSecond: 10_000), turnaroundMilliseconds: 100)

    var radio: BaseRadio
    var now = Instant(microseconds: 0)
    /// The frames that the host has decoded.
    private var hostStream = StreamDecoder()

    /// - Parameter isIntroduced: whether the host has already read what the base radio says of itself after its start.
    init(dutyCyclePartsPerMillion: Int64? = nil, isIntroduced: Bool = true) {
        radio = BaseRadio(
            BaseRadio.Configuration(
                identity: Self.identity, modem: Self.modem, dutyCyclePartsPerMillion: dutyCyclePartsPerMillion),
            now: now)
        if isIntroduced { _ = readAll() }
    }

    /// The next bytes for the host; empty if there are none.
    mutating func nextBytes() -> [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: Frame.maximumByteCount)) { output in
            _ = radio.nextHostFrame(into: &output)
        }
    }

    /// The frames that a host gets that reads everything now.
    mutating func readAll() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while case let bytes = nextBytes(), !bytes.isEmpty {
            var index = 0
            while let event = hostStream.next(in: bytes.span, at: &index) {
                precondition(event == .frame, "the base radio sends only frames")
                let frame = hostStream.frame
                frames.append(frame.indices.map { frame[$0] })
            }
        }
        return frames
    }

    /// The host writes a frame.
    mutating func write(_ frame: [UInt8]) {
        let bytes = [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
        radio.receiveFromHost(bytes.span, now: now)
    }

    /// The packet that goes on the air now; nil if none does. It stays on the air.
    mutating func nextPacket() -> [UInt8]? {
        let packet = [UInt8](capacity: Frame.maximumByteCount) { output in _ = radio.nextPacket(now: now, into: &output) }
        return packet.isEmpty ? nil : packet
    }

    /// Sends the packets that go on the air now, each as long as its airtime is.
    mutating func sendAll() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = nextPacket() {
            packets.append(packet)
            wait(microseconds: radio.airtimeMicroseconds(packetByteCount: packet.count))
            radio.transmissionEnded(now: now)
        }
        return packets
    }

    mutating func hear(_ packet: [UInt8], strengthDBm: Int16 = -97) {
        radio.receive(packet: packet.span, signal: RadioSignal(strengthDBm: strengthDBm, signalToNoiseTenthsDB: -35))
    }

    mutating func wait(microseconds: Int64) { now = now.advanced(byMicroseconds: microseconds) }
}

/// A packet to or from the collar at `address`, which ends with three bytes that tell it from others.
func packet(_ number: Int, address: UInt8 = 9, byteCount: Int = 20) -> [UInt8] {
    [0x22, 0, address] + [UInt8](repeating: UInt8(number & 0xFF), count: byteCount - 5) + [0, UInt8(number & 0xFF)]
}

/// The CRC at the end of a packet.
func sentCRC(of packet: [UInt8]) -> UInt32 { packet.suffix(3).reduce(0) { $0 << 8 | UInt32($1) } }

/// An identity request of a host.
func identityRequest(address: UInt8) throws -> [UInt8] {
    try [UInt8](capacity: Frame.maximumByteCount) { output in
        try IdentityRequest(receiverID: 0x1234_5678).encode(address: address, into: &output)
    }
}

/// The messages in frames whose CRC is not bound to a log.
func unboundMessages(in frames: [[UInt8]]) throws -> [Message] {
    try frames.map { try Message.decode($0.span, log: nil, reference: 0) }
}
