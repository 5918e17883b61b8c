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

/// What the tag of a collar's sealed frame covers besides the frame itself. Both ends must use the same.
public enum SealedBinding: Sendable {
    /// Nothing else.
    case none
    /// The sequence of a fix in the absolute form. It matters only if the frame holds the low 16 bits of the sequence; the lowest
    /// 16 bits of this value never matter.
    case sequence(UInt32)
    /// The anchor of a live fix.
    case anchor(Fix)
}
