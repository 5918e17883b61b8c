import Board
import CollarARQ
import CollarFirmware
import CollarWire

/// The hardware of a collar on this board: the radio at port 0, as a serial line; the GNSS receiver at port 1; the cable at
/// port 2. The lights of the board are the light and the sounder.
struct EmulatedCollar: CollarBoard, ~Copyable {
    typealias GNSS = UBXParser

    private let profile: ModemProfile
    private var clock = Clock()
    private var watchdog = Watchdog()
    private var radio = UART(0)
    private var radioInput = SerialFrames()
    private var radioOutput = LineOutput()
    /// When the frame that is being sent ends.
    private var transmissionEnd = Instant(microseconds: 0)
    /// The bytes that had come from the air when the sensing of the channel began.
    private var byteCountBefore: UInt32 = 0
    private var gnss = UART(1)
    private var cable = UART(2)
    private var cableInput = SerialFrames()

    init(_ factory: FactoryBlocks) {
        profile = ModemProfile(factory.modem)
        Pins.set(.off)
        Pins.listen(until: nil)
    }

    mutating func now() -> Instant { clock.now() }

    mutating func wait(until deadline: Instant) {
        let isSending = transmissionEnd > clock.now()
        clock.wait(until: isSending ? min(deadline, transmissionEnd) : deadline)
    }

    /// Less than the 30 s of the watchdog.
    var longestWaitMicroseconds: Int64 { 20_000_000 }
    mutating func feedWatchdog() { watchdog.feed() }
    mutating func randomWord() -> UInt32 { FactoryBlocks.randomWord() }
    mutating func takeResetCause() -> ResetCause { .take() }
    mutating func reset() { ResetCause.resetByProgram() }
    mutating func takeFlash() -> BoardFlash { BoardFlash() }

    mutating func nextFrame(into frame: inout OutputSpan<UInt8>) -> Bool { radioInput.next(from: &radio, into: &frame) }

    mutating func send(_ frame: Span<UInt8>) {
        radioOutput.fill { StreamEncoder.encode(frame, into: &$0) }
        radioOutput.write(to: &radio)
        transmissionEnd = clock.now().advanced(byMicroseconds: profile.airtimeMicroseconds(frameByteCount: frame.count))
    }

    mutating func radioState() -> RadioState {
        radioOutput.write(to: &radio)
        return radioOutput.isEmpty && clock.now() >= transmissionEnd ? .ready : .sending
    }

    mutating func listen(until deadline: Instant?) { Pins.listen(until: deadline) }

    /// LoRa chips sense the channel; a serial line has nothing to sense.
    var sensesChannel: Bool { profile.isHalfDuplex }

    mutating func senseChannel(until deadline: Instant) {
        Pins.sense(until: deadline)
        byteCountBefore = radio.readByteCount
    }

    /// Bytes that come in during the sensing are a packet on the air. Unlike a chip that detects activity, this radio receives the packet,
    /// too; the core ignores a frame that is not for this collar.
    mutating func isChannelBusy() -> Bool { radio.readByteCount != byteCountBefore }

    mutating func setGNSS(_ supply: GNSSSupply) -> Bool {
        Pins.set(supply)
        return true
    }

    var gnssSettings: GNSSSettings {
        // The emulated receiver has the time of this machine.
        guard let earliest = UTCDate(year: 2026, month: 1, day: 1) else { preconditionFailure("the calendar has this day") }
        return GNSSSettings(earliestDate: earliest)
    }

    mutating func readGNSS(into bytes: inout OutputSpan<UInt8>) {
        while bytes.freeCapacity > 0, let byte = gnss.read() { bytes.append(byte) }
    }

    mutating func writeGNSS(_ bytes: Span<UInt8>) {
        for index in bytes.indices { gnss.write(bytes[index]) }
    }

    mutating func show(_ indication: Indication) {
        Lights.show((indication.isLit ? 1 : 0) | (indication.isSounding ? 2 : 0))
    }

    mutating func nextCableFrame(into frame: inout OutputSpan<UInt8>) -> Bool { cableInput.next(from: &cable, into: &frame) }
    mutating func sendOnCable(_ frame: Span<UInt8>) { SerialFrames.send(frame, on: &cable) }
}
