/// The two lights of the board (FPGAIO, LED0 and LED1).
public enum Lights {
    /// Switches the lights: bit 0 and bit 1.
    public static func show(_ bits: UInt32) { Register(at: 0x4002_8000).value = bits }
}
