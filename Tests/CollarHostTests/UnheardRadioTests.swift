import CollarARQ
import CollarHost
import CollarWire
import Testing

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
        #expect(reports == [.noIdentity(link: "radio", seconds: seconds)])
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
            #expect(bench.notices().filter { $0 != .unsupportedFrame(link: "radio") } == [.foreignPackets(link: "radio", kind)])
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
        #expect(!bench.notices().contains(.foreignPackets(link: "radio", .unknown)))
    }
}
