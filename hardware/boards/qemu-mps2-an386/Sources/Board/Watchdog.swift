/// The watchdog (CMSDK APB watchdog). It warns by the interrupt that no program can mask, and resets.
public struct Watchdog: ~Copyable {
    /// Ticks of 25 MHz until it warns: 30 s. An emulator on a busy machine may not run for seconds.
    private static let load: UInt32 = 750_000_000
    private let clearInterrupt = Register(at: 0x4000_800C)

    /// Starts the watchdog.
    public init() {
        Register(at: 0x4000_8000).value = Self.load
        Register(at: 0x4000_8008).value = 0b11
    }

    /// Begins the time again.
    public mutating func feed() { clearInterrupt.value = 1 }
}
