import CollarARQ
import CollarSimulator
import Testing

@testable import RadioModems

/// The way to a stick at another machine takes time, which its collars wait for.
@Suite struct RoundTripTests {
    private static let roundTrip: Int64 = 900_000
    private static let tenSeconds: Int64 = 10_000_000

    @Test(arguments: [Dialect.kiss, .rnode, .rui3], [RadioModem.PortKind.network, .remote])
    func theWayIsAPartOfTheTurnaroundOfEachStick(dialect: Dialect, kind: RadioModem.PortKind) {
        var bench = StickBench(
            dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7), dialect: dialect, kind: kind, roundTripMilliseconds: 900)
        bench.run(milliseconds: 60_000)
        let turnaround = StickBench.settings.turnaroundMicroseconds(of: dialect) + Self.roundTrip
        #expect(bench.notices.contains(.ready(dialect, StickBench.settings, turnaroundMicroseconds: turnaround)))
        let profiles = bench.events.compactMap { if case .ready(let profile) = $0 { profile } else { nil } }
        #expect(profiles.map(\.turnaroundMicroseconds) == [turnaround])
    }

    private func rui3(_ kind: RadioModem.PortKind, roundTrip: Int64) -> ModemScript<RUI3Modem> {
        var script = ModemScript<RUI3Modem>(kind: kind, roundTripMicroseconds: roundTrip)
        script.pass(milliseconds: script.deadlineMilliseconds ?? 0)
        script.converse { RUI3Answers.answers($0) }
        _ = script.takeEvents()
        return script
    }

    private func rnode(_ kind: RadioModem.PortKind, roundTrip: Int64) -> (script: ModemScript<RNodeModem>, answers: RNodeAnswers) {
        var script = ModemScript<RNodeModem>(kind: kind, roundTripMicroseconds: roundTrip)
        var answers = RNodeAnswers()
        script.converse { answers.answer($0) }
        _ = script.takeEvents()
        return (script, answers)
    }

    private static let isOn = KISSFrame(RNodeCommand.radioState, [RNodeCommand.radioOn])

    @Test(arguments: [(1_099_999, ["AT+PSEND=02"]), (1_100_000, [])] as [(Int64, [String])])
    func anAnswerThroughRUI3MayWaitForTheWholeTurnaround(wait: Int64, lines: [String]) {
        var script = rui3(.network, roundTrip: Self.roundTrip)
        script.send([1])
        script.send([2])
        #expect(script.takeLines() == ["AT+PSEND=01"])
        script.stall(microseconds: wait)
        script.tell("OK", "+EVT:TXP2P DONE")
        #expect(script.takeLines() == lines)
    }

    @Test(arguments: [(1_699_999, [KISSFrame(0, [1])]), (1_700_000, [])] as [(Int64, [KISSFrame])])
    func anAnswerThroughAnRNodeMayWaitForTheWholeTurnaround(wait: Int64, frames: [KISSFrame]) {
        var (script, _) = rnode(.network, roundTrip: Self.roundTrip)
        script.stall(microseconds: 10_000_000)
        script.send([1])
        #expect(script.takeFrames() == [Self.isOn])
        script.stall(microseconds: wait)
        script.tell(Self.isOn)
        #expect(script.takeFrames() == frames)
    }

    /// By itself the stick takes 60 ms and 28 slots of 30 ms: 1 s.
    @Test func theWayIsAddedToTheTimesThatAnRNodeTells() {
        var (script, _) = rnode(.network, roundTrip: Self.roundTrip)
        script.tell(KISSFrame(RNodeCommand.physicalParameters, [4, 0, 3, 0xD0, 0, 40, 0, 41, 0, 30, 0, 60]))
        let told = script.takeEvents().compactMap { if case .timing(let profile) = $0 { profile } else { nil } }
        #expect(told.map(\.turnaroundMicroseconds) == [1_900_000])
    }

    /// The stick reports the end of a packet over the network, and a stick that does not report it is given its time alone.
    @Test func theReportOfAFarStickHasItsWayMore() {
        var script = rui3(.network, roundTrip: Self.roundTrip)
        let airtime = StickBench.settings.profile(of: .rui3).airtimeMicroseconds(frameByteCount: 1)
        let start = script.now.microseconds
        script.send([1])
        #expect(script.deadlineMilliseconds == (start + 2_800_000) / 1000)
        script.tell("OK")
        #expect(script.deadlineMilliseconds == (start + airtime + 150_000) / 1000)
        script.tell("+EVT:TXP2P DONE")
        script.send([2])
        script.tell("OK")
        #expect(script.deadlineMilliseconds == (start + airtime + 2_800_000) / 1000)
    }

    // MARK: Answers that waited when a stick failed

    /// The collar waits for ten seconds, so the age of an answer alone does not drop it.
    @Test(arguments: ["started", "forgotten", "silent"]) func whatWaitedAtARUI3StickIsDroppedWithItsFailure(failure: String) {
        var script = rui3(.remote, roundTrip: Self.tenSeconds)
        switch failure {
        case "started":
            script.send([1])
            script.send([2])
            script.tell("RAKwireless RAK3172-E")
        case "forgotten":
            script.pass(milliseconds: 5000)
            script.send([2])
            script.tell("OK")
        default:
            script.pass(milliseconds: 5000)
            script.send([2])
            script.pass(milliseconds: 3000)
        }
        _ = script.takeLines()
        script.pass(milliseconds: 200)
        let asked = script.converse { RUI3Answers.answers($0) }
        #expect(asked.first == "AT" && asked.last == "AT+PRECV=65533", "\(asked)")
    }

    @Test(arguments: ["started", "off", "silent"]) func whatWaitedAtAnRNodeIsDroppedWithItsFailure(failure: String) {
        var (script, answers) = rnode(.remote, roundTrip: Self.tenSeconds)
        script.pass(milliseconds: 5000)
        script.send([2])
        switch failure {
        case "started": script.tell(KISSFrame(RNodeCommand.reset, [RNodeCommand.hasStarted]))
        case "off": script.tell(KISSFrame(RNodeCommand.radioState, [RNodeCommand.radioOff]))
        default: script.pass(milliseconds: 1500)
        }
        let asked = script.converse { answers.answer($0) }
        #expect(asked.last == KISSFrame(RNodeCommand.power, [0xFF]), "\(asked)")
        #expect(!asked.contains { $0.type == RNodeCommand.data })
    }

    private func kiss() -> (script: ModemScript<MeshCoreModem>, answers: MeshCoreAnswers) {
        var script = ModemScript<MeshCoreModem>(kind: .remote, roundTripMicroseconds: Self.tenSeconds)
        var answers = MeshCoreAnswers()
        script.converse { answers.answer($0) }
        return (script, answers)
    }

    @Test func whatWaitedAtASilentMeshCoreModemIsDropped() {
        var (script, answers) = kiss()
        script.pass(milliseconds: 5000)
        script.send([2])
        script.pass(milliseconds: 750)
        #expect(script.takeNotices().last == .notAnswering(.kiss))
        let asked = script.converse { answers.answer($0) }
        #expect(asked.last == MeshCoreCommand.frame(MeshCoreCommand.setSignalReport, [1]), "\(asked)")
    }

    @Test func whatWaitedAtAStuckMeshCoreModemIsDropped() {
        var (script, answers) = kiss()
        for number in 1...3 {
            script.stall(microseconds: 8_000_000)
            script.send([1])
            // The modem takes the packet and sends it never. The check after it is answered.
            script.converse { answers.answer($0) }
            if number == 3 { script.send([2]) }
            script.stall(microseconds: 2_000_000)
            script.callDeadline()
            if number < 3 { script.converse { answers.answer($0) } }
        }
        #expect(script.takeNotices().last == .notSending(.kiss))
        _ = script.takeFrames()
        script.pass(milliseconds: 3000)
        let asked = script.converse { answers.answer($0) }
        #expect(asked.last == MeshCoreCommand.frame(MeshCoreCommand.setSignalReport, [1]), "\(asked)")
    }
}
