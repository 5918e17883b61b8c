import CollarWire

/// What a link costs in time.
public struct ModemProfile: Equatable, Sendable {
    /// Time on the air for each byte, in nanoseconds.
    public var nanosecondsPerByte: Int64
    /// Time on the air of each frame beyond its bytes (preamble, gaps), in microseconds.
    public var frameOverheadMicroseconds: Int64
    /// The longest time from the end of a frame to the start of its answer, in microseconds.
    public var turnaroundMicroseconds: Int64

    /// Creates a profile.
    public init(nanosecondsPerByte: Int64, frameOverheadMicroseconds: Int64, turnaroundMicroseconds: Int64) {
        self.nanosecondsPerByte = nanosecondsPerByte
        self.frameOverheadMicroseconds = frameOverheadMicroseconds
        self.turnaroundMicroseconds = turnaroundMicroseconds
    }

    /// A serial line of 8N1 characters (10 bits each) with a host that stores to disk before it answers.
    /// - Parameter bitsPerSecond: above 0.
    public static func serial(bitsPerSecond: Int64) -> ModemProfile {
        ModemProfile(
            nanosecondsPerByte: 10_000_000_000 / bitsPerSecond, frameOverheadMicroseconds: 0,
            turnaroundMicroseconds: 100_000)
    }

    /// Time on the air of a frame, in microseconds.
    public func airtimeMicroseconds(frameByteCount: Int) -> Int64 {
        let bytes = Int64(widening: UInt32(truncatingIfNeeded: frameByteCount))
        return frameOverheadMicroseconds + bytes * nanosecondsPerByte / 1000
    }
}
