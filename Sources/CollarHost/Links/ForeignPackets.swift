import CollarWire

/// What packets are that are no frames.
package enum ForeignPacketKind: Equatable, Sendable {
    /// Frames without their first byte: the stick takes it for its own, and the collar does not send such a byte.
    case headerByteMissing
    /// Frames with a byte in front, which the stick does not take.
    case headerByteAdded
    /// Something else.
    case unknown
}

/// Tells what the packets of a radio are if none of them is a frame.
///
/// It examines packets until a collar is heard or something is found. A radio hears other programs with the same settings, and
/// collars whose frames begin one byte too early or too late, because a stick's firmware takes a byte in front of each packet for its
/// own, or does not.
struct ForeignPackets: Sendable {
    /// The packets that show that no frames come.
    private static let neededCount = 4
    /// The most packets that are examined.
    private static let limit = 64
    /// The least signal-to-noise ratio of a packet that counts, in tenths of a decibel. LoRa receives signals below the noise, too.
    private static let leastSignalToNoise: Int16 = 0

    private var examinedCount = 0
    /// The packets that count: all but weak ones that are no frames.
    private var count = 0
    /// Packets with the header of a frame, which other packets have by chance.
    private var plausibleCount = 0
    private var isOver = false

    /// Takes a packet.
    /// - Returns: what the packets are, once that is known; nil before, and afterwards.
    mutating func take(_ packet: Span<UInt8>, signal: RadioSignal?) -> ForeignPacketKind? {
        guard !isOver else { return nil }
        let kind = kind(of: packet, signal)
        isOver = kind != nil || examinedCount >= ForeignPackets.limit
        return kind
    }

    private mutating func kind(of packet: Span<UInt8>, _ signal: RadioSignal?) -> ForeignPacketKind? {
        examinedCount += 1
        count += 1
        if ForeignPackets.hasHeader(packet) {
            plausibleCount += 1
            if FrameCRC.isValid(packet, log: nil) { examinedCount = ForeignPackets.limit }
            return nil
        }
        let bytes = packet.indices.map { packet[$0] }
        if ForeignPackets.isFrame(Array(bytes.dropFirst())) { return .headerByteAdded }
        for typeCode in 0..<UInt8(32) where ForeignPackets.isFrame([Frame.protocolVersion << 5 | typeCode] + bytes) {
            return .headerByteMissing
        }
        if let ratio = signal?.signalToNoiseTenthsDB, ratio < ForeignPackets.leastSignalToNoise { count -= 1 }
        return count >= ForeignPackets.neededCount && 2 * plausibleCount < count ? .unknown : nil
    }

    /// Whether bytes are certainly a frame. The CRC of a frame that is bound to a log shows nothing here.
    private static func isFrame(_ bytes: [UInt8]) -> Bool { hasHeader(bytes.span) && FrameCRC.isValid(bytes.span, log: nil) }

    private static func hasHeader(_ frame: Span<UInt8>) -> Bool {
        do throws(DecodeError) { return try FrameHeader(ofAny: frame).type != nil } catch { return false }
    }
}
