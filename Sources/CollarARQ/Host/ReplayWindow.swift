import CollarWire

/// The replay window of a boot of a collar: which of its newest 64 frames were received (PROTOCOL.md, section 22).
public struct ReplayWindow: Sendable {
    /// How a frame that opens relates to those that came before it.
    public enum Freshness: Sendable {
        /// Its counter is higher than all before.
        case new
        /// Frames with higher counters came before it.
        case late
        /// It was received before, or is so old that this is unknown.
        case repeated
    }

    /// Frames that are older than the newest one by this much or more count as repeats.
    private static let size: UInt32 = 64
    /// The counter of a frame that holds only its low 8 bits is at most this much above the highest received counter.
    private static let highestShortLead: Int64 = 192

    /// The boot, and the highest counter that was received in it.
    public private(set) var highest: FrameNumber
    /// Bit n: the frame was received whose counter is lower than the highest one by n.
    private var received: UInt64

    /// Begins with the first received frame of a boot.
    public init(first number: FrameNumber) {
        highest = number
        received = 1
    }

    /// Goes on after a restart of the receiver: all frames up to this number count as repeats.
    public init(restoring number: FrameNumber) {
        highest = number
        received = .max
    }

    /// The number of a sealed frame that is not an identity; nil if the frame is too short, or if no counter fits its low 8 bits.
    public func number(of frame: Span<UInt8>) -> FrameNumber? {
        guard let code = SealedFrame.counter(in: frame) else { return nil }
        if code.isWhole { return FrameNumber(bootCount: highest.bootCount, counter: code.value) }
        // The one value in this range of 256 that ends in the low 8 bits.
        let first = Int64(widening: highest.counter) + Self.highestShortLead - 255
        let counter = first + (Int64(widening: code.value) - first) & 0xFF
        guard counter >= 0, counter <= 0xFFFF_FFFF else { return nil }
        return FrameNumber(bootCount: highest.bootCount, counter: UInt32(truncatingIfNeeded: counter))
    }

    /// How a frame with this counter relates to those before.
    public func freshness(of counter: UInt32) -> Freshness {
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
