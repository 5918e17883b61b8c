import _Volatile

/// A device register of 32 bits.
struct Register {
    private let mapped: VolatileMappedRegister<UInt32>

    /// The register at an address of the data sheet (Arm DAI 0386, "Cortex-M4 on the MPS2").
    init(at address: UInt) { unsafe mapped = VolatileMappedRegister(unsafeBitPattern: address) }

    var value: UInt32 {
        get { mapped.load() }
        nonmutating set { mapped.store(newValue) }
    }
}
