import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// What a base radio does when its host, its duty cycle or its radio does not keep up.
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
