import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import RadioModems

/// A collar's radio and a stick at the two ends of a line, in virtual time.
private struct RadioBench {
    var radio: PacketRadio
    var stick: any BaseStick
    var now = Instant(microseconds: 0)
    /// The packets on the air, and when each ended.
    var sent: [(packet: [UInt8], end: Instant)] = []
    private var transmissionEnd: Instant?

    init(_ dialect: Dialect, named: Bool = true) {
        radio = PacketRadio(
            ModemConfiguration(
                dialect: named ? dialect : nil, settings: StickBench.settings, limits: TransmitLimits(dutyCyclePartsPerMillion: 1)))
        stick = dialect.makeStick(modem: PacketRadio.line, seed: 1)
        radio.opened(.remote, at: now)
    }

    mutating func run(milliseconds: Int64) {
        let end = now.advanced(byMicroseconds: milliseconds * 1000)
        while now < end {
            let bytes = radio.takeBytes()
            if !bytes.isEmpty { stick.receive(bytes, now: now) }
            stick.advance(to: now)
            if let due = transmissionEnd, due <= now {
                transmissionEnd = nil
                stick.transmissionEnded(now: now)
            }
            if transmissionEnd == nil, let next = stick.nextTransmission(now: now) {
                let due = now.advanced(byMicroseconds: next.airtimeMicroseconds)
                transmissionEnd = due
                sent.append((next.packet, due))
            }
            let heard = stick.takeOutput(now: now)
            if !heard.isEmpty { radio.receive(heard.span, at: now) }
            radio.deadlineReached(at: now)
            now = now.advanced(byMicroseconds: 1000)
        }
    }

    /// Runs until the radio is ready again, and returns the time in milliseconds.
    mutating func millisecondsUntilReady() -> Int64 {
        let start = now
        while radio.state(at: now) != .ready, now.microseconds(since: start) < 20_000_000 { run(milliseconds: 1) }
        return now.microseconds(since: start) / 1000
    }
}

@Suite struct PacketRadioTests {
    private let frame = [UInt8](repeating: 0x55, count: 29)

    /// The radio sends nothing before the stick is set up, and one packet at a time then. A report of the stick, or else the airtime,
    /// ends the sending. The duty cycle of the region does not count: the collar keeps to it itself.
    @Test(arguments: Dialect.allCases) func oneFrameAtATimeIsSent(dialect: Dialect) throws {
        var bench = RadioBench(dialect)
        if dialect != .serial {
            #expect(bench.radio.state(at: bench.now) == .failed)
            bench.radio.send(frame, at: bench.now)
        }
        #expect(bench.millisecondsUntilReady() < 15_000)
        #expect(bench.sent.isEmpty)
        for count in 1...3 {
            bench.radio.send(frame, at: bench.now)
            bench.radio.send([1, 2, 3], at: bench.now)
            #expect(bench.radio.state(at: bench.now) == .sending)
            #expect(bench.millisecondsUntilReady() < 3000)
            if dialect != .rnode {
                #expect(bench.sent.count == count && bench.sent.last?.packet == frame)
                let end = try #require(bench.sent.last?.end)
                #expect(bench.now >= end && bench.now.microseconds(since: end) < 300_000)
            }
            // An RNode waits for a free channel first, and reports nothing.
            bench.run(milliseconds: 2000)
            #expect(bench.sent.count == count)
        }
        if dialect == .rnode { #expect(bench.sent.allSatisfy { Array($0.packet.dropFirst()) == frame }) }
    }

    @Test func aSerialLineIsAssumedOnlyWhereNothingAnswers() {
        var bench = RadioBench(.kiss, named: false)
        #expect(bench.radio.dialect == nil)
        #expect(bench.millisecondsUntilReady() < 15_000)
        #expect(bench.radio.dialect == .kiss)
        bench.radio.closed()
        #expect(bench.radio.state(at: bench.now) == .failed && bench.radio.dialect == .kiss)
        var silent = RadioBench(.serial, named: false)
        #expect(silent.millisecondsUntilReady() < 15_000)
        #expect(silent.radio.dialect == nil)
    }

    @Test(arguments: Dialect.allCases) func framesThatAreHeardWaitAndTheOldestIsDroppedForOneMore(dialect: Dialect) {
        var bench = RadioBench(dialect)
        _ = bench.millisecondsUntilReady()
        for number in 0..<70 as Range<UInt8> {
            let frame = [number] + [UInt8](repeating: 9, count: 19)
            let packet =
                switch dialect {
                case .serial:
                    [UInt8](capacity: 40) { output in StreamEncoder.encode(frame.span, into: &output) }
                case .rnode: [0x10] + frame
                case .kiss, .rui3: frame
                }
            bench.stick.hear(packet, signal: RadioSignal(strengthDBm: -100, signalToNoiseTenthsDB: 50), now: bench.now)
            bench.run(milliseconds: 100)
        }
        var heard: [UInt8] = []
        while let frame = bench.radio.nextFrame() { heard.append(frame[0]) }
        #expect(heard == Array(6..<70))
    }

    /// The frame that was being sent is lost with the port, and does not keep the radio busy when it is back.
    @Test(arguments: Dialect.allCases) func aPortThatIsClosedForgetsTheFrameThatWasSent(dialect: Dialect) {
        var bench = RadioBench(dialect)
        _ = bench.millisecondsUntilReady()
        bench.radio.send(frame, at: bench.now)
        bench.radio.closed()
        #expect(bench.radio.state(at: bench.now) == .failed)
        #expect(bench.radio.takeBytes().isEmpty && bench.radio.nextDeadline == nil)
        bench.stick = dialect.makeStick(modem: PacketRadio.line, seed: 2)
        bench.radio.opened(.remote, at: bench.now)
        #expect(bench.millisecondsUntilReady() < 15_000)
    }

    @Test func aCollarWaitsForBothSticks() {
        let settings = StickBench.settings
        for dialect in Dialect.allCases {
            let difference =
                settings.profile(ofCollarWith: dialect).turnaroundMicroseconds - settings.profile(of: dialect).turnaroundMicroseconds
            let wait = RNodeTiming(settings).longestWait(slots: RNodeTiming.usualSlots)
            #expect(difference == 50_000 + (dialect == .rnode ? wait : 0))
            #expect(dialect.maximumFrameByteCount == (dialect == .rui3 ? 239 : 253))
        }
    }
}
