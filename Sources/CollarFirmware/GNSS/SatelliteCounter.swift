/// Counts the satellites that a u-blox receiver hears, from its message NAV-SAT while the bytes pass.
///
/// The message has 8 bytes and 12 for each satellite, up to 3068: too many to be kept. Therefore the count is known when the last byte
/// of a message with a correct checksum has passed. A damaged message hides no message that follows it: the bytes that begin a NAV-SAT
/// begin a new count wherever they come, and all other messages are found by ``UBXParser``, which searches these bytes too.
///
/// The layout is that of the u-blox M8 (UBX-13003221) and M10 (UBX-21035062) interface descriptions.
struct SatelliteCounter: Sendable {
    /// The least carrier-to-noise density of a satellite that counts, in dBHz.
    ///
    /// A satellite that the receiver only searches has 0. A u-blox receiver makes positions with 6 dBHz and more
    /// (CFG-NAVSPG-INFIL_MINCNO), which is at the limit of what it can follow; a few decibels more tell a signal from noise.
    static var leastDensity: UInt8 { 10 }

    private enum Offset {
        static var version: Int { 4 }
        static var satelliteCount: Int { 5 }
        /// The first of the blocks, one for each satellite.
        static var blocks: Int { 8 }
        /// In a block.
        static var density: Int { 2 }
    }

    private static var blockByteCount: Int { 12 }
    private static var version: UInt8 { 1 }
    /// The bytes of the length, before the payload.
    private static var lengthByteCount: Int { 2 }
    /// The four bytes with which the message begins: synchronisation, class and number.
    private static var beginning: UInt32 {
        let type = UBXMessageType.navigationSatellites
        return UInt32(UBXCommand.synchronisation.0) &<< 24 | UInt32(UBXCommand.synchronisation.1) &<< 16
            | UInt32(type.messageClass) &<< 8 | UInt32(type.number)
    }

    private var lastBytes: UInt32 = 0
    /// The offset of the next byte in the payload, before which its length comes; nil outside a message.
    private var offset: Int?
    private var payloadByteCount = 0
    private var checksum = UBXChecksum()
    private var count: UInt8 = 0

    /// Reads one byte.
    /// - Returns: the number of satellites, if the byte ends a valid message; else nil.
    mutating func add(_ byte: UInt8) -> UInt8? {
        lastBytes = lastBytes &<< 8 | UInt32(byte)
        if lastBytes == SatelliteCounter.beginning {
            begin()
            return nil
        }
        guard let place = offset else { return nil }
        offset = place &+ 1
        guard place < payloadByteCount || place < 0 else {
            let isLast = place > payloadByteCount
            let isCorrect = byte == (isLast ? checksum.second : checksum.first)
            if isLast || !isCorrect { offset = nil }
            return isLast && isCorrect ? count : nil
        }
        checksum.add(byte)
        if !accept(byte, at: place) { offset = nil }
        return nil
    }

    private mutating func begin() {
        (offset, payloadByteCount, count) = (-SatelliteCounter.lengthByteCount, 0, 0)
        checksum = UBXChecksum()
        checksum.add(UBXMessageType.navigationSatellites.messageClass)
        checksum.add(UBXMessageType.navigationSatellites.number)
    }

    /// Takes a byte of the length or of the payload.
    /// - Returns: false if the message is not valid.
    private mutating func accept(_ byte: UInt8, at place: Int) -> Bool {
        switch place {
        case -2: payloadByteCount = Int(byte)
        case -1:
            payloadByteCount |= Int(byte) &<< 8
            return payloadByteCount >= Offset.blocks
        case Offset.version: return byte == SatelliteCounter.version
        case Offset.satelliteCount: return payloadByteCount == Offset.blocks &+ Int(byte) &* SatelliteCounter.blockByteCount
        case Offset.blocks...:
            let isDensity = (place &- Offset.blocks) % SatelliteCounter.blockByteCount == Offset.density
            if isDensity, byte >= SatelliteCounter.leastDensity { count &+= 1 }
        default: break
        }
        return true
    }
}
