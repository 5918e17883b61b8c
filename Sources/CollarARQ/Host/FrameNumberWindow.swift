import CollarWire

/// Which frames of a boot of a collar were received: a window of 64 below the highest counter (PROTOCOL.md, section 22).
public struct FrameNumberWindow: Sendable {
    /// How a frame that opens relates to those that came before it.
    public enum Novelty: Sendable {
        /// Its counter is higher than all before.
        case new
        /// Frames with higher counters came before it.
        case late
        /// It was received before, or is so old that this is unknown.
        case repeated
    }

    /// Frames that are older than the newest one by this much or more count as repeats.
    private static let size: UInt32 = 64
    /// A frame that holds 8 bits of its counter is at most so far above the newest one that came.
    private static let shortLead: Int64 = 192

    /// The boot, and the highest counter that was received in it.
    public private(set) var highest: FrameNumber
    /// Bit n: the frame was received whose counter is lower than the highest one by n.
    private var received: UInt64

    /// Begins with the first frame of a boot that was received.
    public init(first number: FrameNumber) {
        highest = number
        received = 1
    }

    /// Goes on after a restart of the receiver: all frames up to this number count as repeats.
    public init(restoring number: FrameNumber) {
        highest = number
        received = .max
    }

    /// The number of a sealed frame that is not an identity; nil if no frame of this boot can have its counter.
    public func number(of frame: Span<UInt8>) -> FrameNumber? {
        guard let code = SealedFrame.counter(in: frame) else { return nil }
        if code.isWhole { return FrameNumber(bootCount: highest.bootCount, counter: code.value) }
        // The one value in this range of 256 that ends in the low 8 bits.
        let first = Int64(widening: highest.counter) + Self.shortLead - 255
        let counter = first + (Int64(widening: code.value) - first) & 0xFF
        guard counter >= 0, counter <= 0xFFFF_FFFF else { return nil }
        return FrameNumber(bootCount: highest.bootCount, counter: UInt32(truncatingIfNeeded: counter))
    }

    /// How a frame with this counter relates to those before.
    public func novelty(of counter: UInt32) -> Novelty {
        guard counter <= highest.counter else { return .new }
        let age = highest.counter - counter
        return age < Self.size && received &>> UInt64(widening: age) & 1 == 0 ? .late : .repeated
    }

    /// Notes a frame that opened and is no repeat.
    public mutating func note(_ counter: UInt32) {
        if counter > highest.counter {
            let step = counter - highest.counter
            received = (step < Self.size ? received &<< UInt64(widening: step) : 0) | 1
            highest.counter = counter
        } else if highest.counter - counter < Self.size {
            received |= 1 &<< UInt64(widening: highest.counter - counter)
        }
    }
}
