import CollarARQ
import CollarJournal
import CollarWire
import Testing

@testable import CollarHost

struct HeldFrameTests {
    private let start = Instant(microseconds: 1_000_000)
    /// A frame whose CRC field is 0x123456. The other bytes are arbitrary, because a held frame is not decoded.
    private let packet: [UInt8] = [0x22, 0, 17, 1, 2, 3, 0x12, 0x34, 0x56]

    private func report(check: UInt32) throws -> [UInt8] {
        let report = SignalReport(packetCRC: check, signal: RadioSignal(strengthDBm: -90))
        return try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try report.encode(into: &output)
        }
    }

    @Test func nothingIsHeldBeforeTheRadioSpoke() {
        var held = HeldFrame()
        #expect(!held.isReporting)
        held.radioSpoke()
        #expect(held.isReporting)
    }

    @Test func theReportAboutTheFrameGivesItsSignal() throws {
        var held = HeldFrame()
        held.reportCame()
        let (right, wrong) = (try report(check: 0x123456), try report(check: 0x123457))
        #expect(held.signal(in: right.span) == nil)
        held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
        #expect(held.signal(in: wrong.span) == nil)
        #expect(held.signal(in: packet.span) == nil)
        #expect(held.signal(in: right.span) == RadioSignal(strengthDBm: -90))
        #expect(held.bytes == packet)
        held.release(isReported: true)
        #expect(held.deadline == nil)
        #expect(held.signal(in: right.span) == nil)
    }

    @Test func aDamagedReportTellsNothing() throws {
        var held = HeldFrame()
        held.reportCame()
        held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
        let whole = try report(check: 0x123456)
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x40
            #expect(held.signal(in: damaged.span) == nil)
        }
    }

    @Test(arguments: [(nil, 20_000), (100_000, 20_000), (80_000, 20_000), (40_000, 10_000), (0, 0)])
    func theWaitLeavesTimeForTheAnswer(turnaround: Int64?, wait: Int64) {
        var held = HeldFrame()
        held.hold(packet.span, now: start, turnaroundMicroseconds: turnaround)
        #expect(held.deadline == start.advanced(byMicroseconds: wait))
    }

    @Test func aRadioThatDoesNotReportIsNotWaitedForForEver() {
        var held = HeldFrame()
        held.radioSpoke()
        for _ in 0..<8 {
            #expect(held.isReporting)
            held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
            held.release(isReported: false)
        }
        #expect(!held.isReporting)
        held.radioSpoke()
        #expect(!held.isReporting)
        held.reportCame()
        #expect(held.isReporting)
    }

    @Test func aReportBetweenKeepsThePatience() {
        var held = HeldFrame()
        held.radioSpoke()
        for count in 0..<40 {
            held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
            held.release(isReported: count % 8 == 7)
        }
        #expect(held.isReporting)
    }
}

/// Links of LoRa radios at which no collar is heard.
@Suite struct UnheardRadioTests {
    /// A collar at a LoRa radio is heard after a heartbeat, and its identity after some polls. At SF12 a frame takes two seconds.
    @Test(arguments: [(7, 79), (9, 81), (12, 102)] as [(UInt8, Int)])
    func theSilenceOfARadioIsReportedAfterAHeartbeatAndSomePolls(spreadingFactor: UInt8, seconds: Int) throws {
        let bench = try HostBench()
        let lora = LoRaSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            preambleSymbols: 24, hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: spreadingFactor > 10, powerDBm: 14)
        let link = bench.host.addLink(named: "radio")
        bench.host.linkOpened(link, timing: ModemProfile(lora: lora, turnaroundMicroseconds: 800_000), at: bench.time)
        var reports: [HostNotice] = []
        var requests = bench.frames().count
        while let due = bench.host.nextDeadline {
            bench.wait(seconds: Double(due.microseconds(since: bench.now)) / 1e6)
            bench.host.deadlineReached(at: bench.time)
            reports += bench.notices()
            requests += bench.frames().count
        }
        #expect(reports == [.link("radio", .noIdentity(microseconds: bench.now.microseconds))])
        #expect(bench.now.microseconds / 1_000_000 == seconds)
        #expect(requests == 3, "at the opening, after one second and after five")
    }

    @Test func packetsThatAreNoFramesAreNamedOnce() throws {
        let collar = try PaperCollar()
        let frames = try [collar.probe(next: 3, poll: 1), collar.fix(0, poll: 2), collar.identity(next: 1, poll: 3)]
        let foreign = (1...20).map { number in (0..<30).map { UInt8(truncatingIfNeeded: 137 * number + 61 * $0 * $0) | 0x40 } }
        let cases: [([[UInt8]], ForeignPacketKind)] = [
            (frames.map { Array($0.dropFirst()) }, .headerByteMissing), (frames.map { [0xA0] + $0 }, .headerByteAdded), (foreign, .unknown),
        ]
        for (packets, kind) in cases {
            let bench = try HostBench()
            let link = bench.openLink()
            for packet in packets + packets {
                let signal = RadioSignal(strengthDBm: -80, signalToNoiseTenthsDB: 80)
                bench.host.receive(packet: packet.span, signal: signal, on: link, at: bench.time)
            }
            #expect(bench.notices().filter { $0 != .link("radio", .unsupportedFrame) } == [.link("radio", .foreignPackets(kind))])
        }
    }

    /// Frames of a collar whose log is not known yet fit no CRC. Packets that are hardly received are no sign of anything.
    @Test func framesAndWeakPacketsAreNotNamed() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        for sequence in 0..<20 as Range<UInt32> {
            let fix = try PaperCollar().fix(sequence)
            bench.host.receive(packet: fix.span, signal: nil, on: link, at: bench.time)
            let weak = [UInt8](repeating: 0x47, count: 20 + Int(sequence))
            let signal = RadioSignal(strengthDBm: -125, signalToNoiseTenthsDB: -120)
            bench.host.receive(packet: weak.span, signal: signal, on: link, at: bench.time)
        }
        #expect(bench.notices().isEmpty)
    }

    @Test func noMoreThan64PacketsAreExamined() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        for number in 0..<70 {
            let packet = [UInt8](repeating: 0x47, count: 20)
            let signal = RadioSignal(strengthDBm: -125, signalToNoiseTenthsDB: number < 64 ? -120 : 80)
            bench.host.receive(packet: packet.span, signal: signal, on: link, at: bench.time)
        }
        #expect(!bench.notices().contains(.link("radio", .foreignPackets(.unknown))))
    }
}
