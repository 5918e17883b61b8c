import CollarWire

/// The timing of a link.
///
/// The airtime of a frame is a fixed time plus the time of the blocks of symbols that carry its bits. A block that is filled
/// only in part takes the same time as a full one. On a serial line a block is a byte.
public struct ModemProfile: Equatable, Sendable {
    /// The part of a frame's airtime that does not depend on its length, such as that of its preamble, in microseconds.
    public var frameOverheadMicroseconds: Int64
    /// The longest time from the end of a frame to the start of its answer, in microseconds.
    public var turnaroundMicroseconds: Int64
    /// Whether the link is half-duplex: neither end can receive while it sends, so the host may send only in the window after a
    /// poll.
    public var isHalfDuplex: Bool
    private let blockNanoseconds: Int64
    private let bitsPerBlock: Int64
    /// Bits that the blocks carry in addition to the frame's bits; negative if the fixed part carries some of the frame's bits.
    private let bitOffset: Int64

    /// Creates the timing of a link whose frames take a fixed time plus the same time for every byte.
    public init(
        nanosecondsPerByte: Int64, frameOverheadMicroseconds: Int64, turnaroundMicroseconds: Int64,
        isHalfDuplex: Bool = false
    ) {
        self.frameOverheadMicroseconds = frameOverheadMicroseconds
        self.turnaroundMicroseconds = turnaroundMicroseconds
        self.isHalfDuplex = isHalfDuplex
        blockNanoseconds = nanosecondsPerByte
        bitsPerBlock = 8
        bitOffset = 0
    }

    /// A serial line of 8N1 characters (10 bits each) with a host that stores to disk before it answers.
    /// - Parameter bitsPerSecond: above 0.
    public static func serial(bitsPerSecond: Int64) -> ModemProfile {
        ModemProfile(
            nanosecondsPerByte: 10_000_000_000 / bitsPerSecond, frameOverheadMicroseconds: 0,
            turnaroundMicroseconds: 100_000)
    }

    /// A LoRa modem.
    ///
    /// Source of the number of symbols in a frame: Semtech AN1200.13, "LoRa Modem Designer's Guide", section 4; for spreading
    /// factors 5 and 6 the SX1261/2 data sheet, section 6.1.4.
    /// - Parameters:
    ///   - settings: the modem's settings.
    ///   - turnaroundMicroseconds: the longest time from the end of a frame to the start of its answer.
    ///   - modemHeaderByteCount: bytes that the modems at both ends add to each frame on the air.
    public init(lora settings: LoRaSettings, turnaroundMicroseconds: Int64, modemHeaderByteCount: Int64 = 0) {
        let spreadingFactor = Int64(widening: settings.spreadingFactor)
        let symbolNanoseconds = 1_000_000_000 &<< spreadingFactor / Int64(widening: settings.bandwidthHertz)
        let isFast = settings.spreadingFactor < 7
        let reduction: Int64 = settings.optimizesLowDataRate ? 2 : 0
        // Preamble, sync word, and the eight symbols that carry the first bits.
        let quarterSymbols = 4 * Int64(widening: UInt32(settings.preambleSymbols)) + (isFast ? 25 : 17) + 32
        frameOverheadMicroseconds = quarterSymbols * symbolNanoseconds / 4000
        self.turnaroundMicroseconds = turnaroundMicroseconds
        isHalfDuplex = true
        blockNanoseconds = symbolNanoseconds * Int64(widening: settings.codingRateDenominator)
        bitsPerBlock = 4 * (spreadingFactor - (isFast ? 0 : reduction))
        bitOffset =
            (isFast ? 0 : 8) + (settings.hasExplicitHeader ? 20 : 0) + (settings.hasCRC ? 16 : 0)
            - 4 * spreadingFactor + 8 * modemHeaderByteCount
    }

    /// The profile for modem settings that were reported or configured.
    public init(_ settings: ModemSettings) {
        let turnaround = Int64(widening: UInt32(settings.turnaroundMilliseconds)) * 1000
        switch settings.modulation {
        case .serial(let bitsPerSecond):
            self = .serial(bitsPerSecond: Int64(widening: bitsPerSecond))
            turnaroundMicroseconds = turnaround
        case .lora(let lora): self.init(lora: lora, turnaroundMicroseconds: turnaround)
        }
    }

    /// The time of an exchange, in microseconds: of a common fix of 29 bytes, the turnaround, and an answer of 18 bytes. Two exchanges
    /// that begin within this time of each other can collide.
    public var exchangeMicroseconds: Int64 {
        airtimeMicroseconds(frameByteCount: 29) + turnaroundMicroseconds + airtimeMicroseconds(frameByteCount: 18)
    }

    /// How long a radio senses the channel before an exchange, in microseconds: the turnaround, in which a poll of another collar may
    /// wait for its answer, and the symbols of a block, in which a packet is noticed.
    public var senseMicroseconds: Int64 { turnaroundMicroseconds + blockNanoseconds / 1000 }

    /// Airtime of a frame, in microseconds.
    public func airtimeMicroseconds(frameByteCount: Int) -> Int64 {
        let bits = 8 * Int64(widening: UInt32(truncatingIfNeeded: frameByteCount)) + bitOffset
        let blocks = bits > 0 ? (bits + bitsPerBlock - 1) / bitsPerBlock : 0
        return frameOverheadMicroseconds + blocks * blockNanoseconds / 1000
    }
}
