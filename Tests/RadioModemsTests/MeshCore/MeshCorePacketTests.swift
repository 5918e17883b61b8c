import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

/// Packets from the air at a MeshCore modem, with and without the report of their signal.
@Suite struct MeshCorePacketTests {
    private func ready() -> ModemScript<MeshCoreModem> {
        var script = ModemScript<MeshCoreModem>()
        var answers = MeshCoreAnswers()
        script.converse { answers.answer($0) }
        _ = script.takeEvents()
        return script
    }

    private func signal(_ quarters: UInt8, _ strength: UInt8) -> KISSFrame { KISSFrame(6, [0xF9, quarters, strength]) }

    private func data(_ bytes: UInt8...) -> KISSFrame { KISSFrame(0, bytes) }

    @Test func twoPacketsWithoutReportsAreBothHandedOn() {
        var script = ready()
        script.tell(data(1))
        script.pass(milliseconds: 10)
        script.tell(data(2))
        #expect(script.takeEvents() == [.packet([1], nil)])
        script.pass(microseconds: 24_999)
        #expect(script.takeEvents() == [])
        script.pass(microseconds: 1)
        #expect(script.takeEvents() == [.packet([2], nil)])
    }

    @Test func manyPacketsInOneReadAreAllHandedOn() {
        var script = ready()
        var line: [UInt8] = []
        for number in 1...5 { KISSFrame(0, [UInt8(number)]).append(to: &line) }
        script.tell(line)
        script.pass(milliseconds: 25)
        #expect(script.takeEvents() == (1...5).map { .packet([UInt8($0)], nil) })
    }

    @Test func aReportBelongsToThePacketBeforeIt() {
        var script = ready()
        script.tell(data(1))
        script.tell(data(2))
        script.tell(signal(28, 0x9F))
        #expect(script.takeEvents() == [.packet([1], nil), .packet([2], RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70))])
        script.pass(milliseconds: 100)
        #expect(script.takeEvents() == [], "no packet is handed on twice")
        script.tell(data(3))
        script.tell(signal(0xFE, 0xC4))
        #expect(script.takeEvents() == [.packet([3], RadioSignal(strengthDBm: -60, signalToNoiseTenthsDB: -5))])
    }

    @Test func aReportThatComesTooLateBelongsToNoPacket() {
        var script = ready()
        script.tell(data(1))
        script.pass(milliseconds: 25)
        script.tell(signal(28, 0x9F))
        script.tell(data(2))
        script.pass(milliseconds: 25)
        #expect(script.takeEvents() == [.packet([1], nil), .packet([2], nil)])
    }

    @Test func aReportThatIsCutOffIsNone() {
        var script = ready()
        script.tell(data(1))
        script.tell(KISSFrame(6, [0xF9, 28]))
        #expect(script.takeEvents() == [])
        script.tell(signal(28, 0x9F))
        #expect(script.takeEvents() == [.packet([1], RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70))])
    }

    @Test(arguments: [(0x80, -128), (0xFF, -1), (0x00, 0), (0x01, -255), (0x7F, -129), (0x7D, -131)] as [(UInt8, Int16)])
    func strengthsBelowAByteBecomePositiveAndAreReadBack(byte: UInt8, strength: Int16) {
        var script = ready()
        script.tell(data(1))
        script.tell(signal(0x81, byte))
        #expect(script.takeEvents() == [.packet([1], RadioSignal(strengthDBm: strength, signalToNoiseTenthsDB: -317))])
    }

    /// The check of a quiet modem, 5 s after the setup, does not delay a packet, and a packet does not delay the check.
    @Test func thePacketAndTheCheckHaveTimesOfTheirOwn() {
        var script = ready()
        #expect(script.deadlineMilliseconds == 5000)
        script.pass(milliseconds: 4990)
        script.tell(data(1))
        #expect(script.deadlineMilliseconds == 5000)
        script.pass(milliseconds: 10)
        #expect(script.takeFrames() == [MeshCoreSetup.readBackQuestion])
        #expect(script.deadlineMilliseconds == 5015)
        script.pass(milliseconds: 15)
        #expect(script.takeEvents() == [.packet([1], nil)])
        #expect(script.deadlineMilliseconds == 5250)
    }

    @Test func whatIsHeardBeforeTheSettingsAreConfirmedIsDroppedAndLaterItIsNot() {
        var script = ModemScript<MeshCoreModem>()
        script.tell(data(1))
        script.tell(signal(28, 0x9F))
        script.tell(data(2))
        script.pass(milliseconds: 30)
        var answers = MeshCoreAnswers()
        script.converse { answers.answer($0) }
        #expect(!script.takeEvents().contains { if case .packet = $0 { true } else { false } })
        // The check finds a modem without its settings, and while it is set up, packets are taken.
        script.pass(milliseconds: 5000)
        answers.held = [UInt8](repeating: 0, count: 10)
        for question in script.takeFrames() { for answer in answers.answer(question) { script.tell(answer) } }
        script.tell(data(3))
        script.tell(data(4))
        #expect(script.takeEvents() == [.packet([3], nil)])
    }

    @Test func framesOfOtherTypesAreNoPackets() {
        var script = ready()
        for type in [0x01, 0x05, 0x10, 0x80, 0xFF] as [UInt8] { script.tell(KISSFrame(type, [1, 2, 3])) }
        script.pass(milliseconds: 100)
        #expect(script.takeEvents() == [])
    }
}
