import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

/// The program of a collar on a board whose radio can sense the channel.
@Suite struct ChannelSensingTests {
    private static let modem = ModemProfile(
        nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 10_000, turnaroundMicroseconds: 40_000, isHalfDuplex: true)
    /// The turnaround and a block.
    private static let sensing: Int64 = 41_000

    private let hardware = TestBoard.Hardware()

    /// A program that has its identity to send. Its first step returns the end of its random wait.
    private func program(sensesChannel: Bool) -> CollarProgram<TestBoard> {
        hardware.sensesChannel = sensesChannel
        let configuration = Collar<SharedFlash>.Configuration(
            deviceID: deviceID, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3), capabilities: .messages,
            delivery: CollarDelivery.Configuration(modem: Self.modem, jitterSeed: 5))
        return CollarProgram(TestBoard(hardware: hardware), configuration: configuration)
    }

    private func capabilities() throws -> Capabilities? {
        let frame = try #require(hardware.sent.first)
        guard case .identity(let identity) = try Message.decode(frame.span, log: nil, reference: 0) else { return nil }
        return identity.capabilities
    }

    @Test func aBoardThatSensesDoesSoAfterTheWait() throws {
        var program = program(sensesChannel: true)
        let due = program.step()
        #expect(due > hardware.now && hardware.sensing.isEmpty)
        hardware.now = due
        let end = due.advanced(byMicroseconds: Self.sensing)
        let next = program.step()
        #expect(next == end && hardware.sensing == [end] && hardware.sent.isEmpty)
        // A step in between, such as that for a byte of the GNSS receiver, begins no other sensing.
        hardware.now = due.advanced(byMicroseconds: 1000)
        let again = program.step()
        #expect(again == end && hardware.sensing == [end] && hardware.sent.isEmpty)
        hardware.now = end
        _ = program.step()
        #expect(hardware.sent.count == 1 && hardware.sensing == [end])
        #expect(try capabilities()?.contains(.listenBeforeTalk) == true)
        #expect(try capabilities()?.contains(.messages) == true)
    }

    @Test func aBusyChannelDelaysTheFrame() throws {
        var program = program(sensesChannel: true)
        let due = program.step()
        hardware.now = due
        let end = program.step()
        hardware.now = due.advanced(byMicroseconds: 20_000)
        hardware.isChannelBusy = true
        let again = program.step()
        #expect(again != end)
        hardware.isChannelBusy = false
        hardware.now = again
        let secondEnd = again.advanced(byMicroseconds: Self.sensing)
        let next = program.step()
        #expect(next == secondEnd && hardware.sensing == [end, secondEnd] && hardware.sent.isEmpty)
        // What is noticed at the last moment counts, too.
        hardware.now = secondEnd
        hardware.isChannelBusy = true
        _ = program.step()
        #expect(hardware.sent.isEmpty)
    }

    @Test func aBoardThatCannotSenseSendsAfterTheWait() throws {
        var program = program(sensesChannel: false)
        let due = program.step()
        hardware.isChannelBusy = true
        hardware.now = due
        _ = program.step()
        #expect(hardware.sent.count == 1 && hardware.sensing.isEmpty)
        #expect(try capabilities() == .messages)
    }
}
