/// The number of a sealed frame of a collar. No other frame of the same log and key has it.
public struct FrameNumber: Equatable, Sendable {
    /// The collar's boot count.
    public var bootCount: UInt32
    /// The number of the frame in this boot, from 0 on.
    public var counter: UInt32

    /// Creates a number.
    public init(bootCount: UInt32, counter: UInt32) {
        self.bootCount = bootCount
        self.counter = counter
    }
}

/// The value that the tag of a collar's sealed frame covers in addition to the frame. Both ends must use the same value.
public enum SealedBinding: Sendable {
    /// Nothing else.
    case none
    /// The sequence of an absolute fix. The tag covers its upper 16 bits, if the frame does not hold them. The low 16 bits of this
    /// value are not used.
    case sequence(UInt32)
    /// The anchor of a live fix.
    case anchor(Fix)
}
