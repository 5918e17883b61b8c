import _Volatile

/// Bytes of the PSRAM, which the emulator keeps in a file. Each access reaches the memory, in the order of the program.
enum Memory {
    /// The address of the first byte.
    static let start: UInt = 0x2100_0000

    /// The byte at an offset.
    static subscript(offset: Int) -> UInt8 {
        get { unsafe VolatileMappedRegister<UInt8>(unsafeBitPattern: start + UInt(offset)).load() }
        set { unsafe VolatileMappedRegister<UInt8>(unsafeBitPattern: start + UInt(offset)).store(newValue) }
    }
}
