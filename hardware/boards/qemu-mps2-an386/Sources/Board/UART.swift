import CollarFirmware

/// A serial port of the board (CMSDK APB UART). It holds one byte each way; the emulator waits with the next byte until the one
/// before has been read.
public struct UART: SerialPort, ~Copyable {
    private static let stateTransmitFull: UInt32 = 1
    private static let stateReceiveFull: UInt32 = 2
    /// Transmitter and receiver are on, and both interrupt.
    private static let controlOn: UInt32 = 0b1111
    /// 25 MHz divided by 115,200 bit/s.
    private static let divider: UInt32 = 217

    private let data: Register
    private let state: Register
    private let interrupts: Register
    private let counters: (read: Register, written: Register)

    /// The port of a number, as the emulator's option `-serial` counts them: 0 … 2.
    public init(_ number: Int) {
        let base = 0x4000_4000 + UInt(number) * 0x1000
        data = Register(at: base)
        state = Register(at: base + 0x4)
        interrupts = Register(at: base + 0xC)
        counters = Pins.counters(ofPort: number)
        Register(at: base + 0x10).value = Self.divider
        Register(at: base + 0x8).value = Self.controlOn
    }

    /// The next byte that has come in; nil if there is none.
    public mutating func read() -> UInt8? {
        interrupts.value = 0b11
        guard state.value & Self.stateReceiveFull != 0 else { return nil }
        counters.read.value &+= 1
        return UInt8(truncatingIfNeeded: data.value)
    }

    /// How many bytes were read since the board was switched on; it wraps around.
    public var readByteCount: UInt32 { counters.read.value }

    /// Whether the port takes a byte now. If not, an interrupt tells when it does.
    public var isReady: Bool { state.value & Self.stateTransmitFull == 0 }

    /// Sends a byte, as soon as the port takes it.
    public mutating func write(_ byte: UInt8) {
        while !isReady {}
        counters.written.value &+= 1
        data.value = UInt32(byte)
    }
}
