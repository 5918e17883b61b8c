import CollarWire

/// Finds the messages of a u-blox receiver in a stream of bytes, and reads the ones that a collar needs.
///
/// All other bytes are skipped: other protocols, messages with a wrong checksum, and messages with more than 92 bytes of payload.
/// Damaged bytes never hide a message that follows them: after a wrong checksum the search goes on at the second byte of what
/// looked like a message.
public struct UBXParser: GNSSDialect {
    /// The bytes from the first one on that may begin a message.
    private var bytes = InlineArray<100, UInt8>(repeating: 0)
    private var count = 0

    /// The bytes before the payload: two of synchronisation, class, number, and two of length.
    private static var headerByteCount: Int { 6 }
    private static var checksumByteCount: Int { 2 }
    /// The payload of the longest message that the collar needs.
    private static var longestPayload: Int { 92 }

    /// Creates a parser at the start of a stream.
    public init() {}

    /// A u-blox receiver takes its configuration.
    public static var takesConfiguration: Bool { true }
    /// UBX messages are complete: none waits for others.
    public var isMomentOpen: Bool { false }
    /// A UBX parser reads no NMEA.
    public var isLastEventNMEA: Bool { false }

    /// UBX messages are complete: none waits for others.
    public mutating func endMoment() -> GNSSEvent? { nil }

    /// Reads one byte. After each byte, call ``next()`` until it returns nil; otherwise old bytes are lost.
    public mutating func append(_ byte: UInt8) {
        if count == bytes.count { drop(1) }
        bytes[count] = byte
        count &+= 1
    }

    /// The event of the next message; nil if the bytes hold no further whole message.
    ///
    /// Complexity: constant for a byte that continues a message; at worst quadratic in the 100 bytes that are kept.
    public mutating func next() -> GNSSEvent? {
        var start = 0
        while start < count {
            switch judge(at: start) {
            case .incomplete:
                drop(start)
                return nil
            case .noMessage:
                start &+= 1
            case .message(let end):
                let event = event(ofMessageAt: start, end: end)
                drop(end)
                return event
            }
        }
        count = 0
        return nil
    }

    private enum Judgement {
        case incomplete
        case noMessage
        /// A message with a correct checksum; it ends before this index.
        case message(end: Int)
    }

    /// Judges whether a message begins at `start`, which is below `count`.
    private mutating func judge(at start: Int) -> Judgement {
        guard bytes[start] == UBXCommand.synchronisation.0 else { return .noMessage }
        guard start &+ 1 < count else { return .incomplete }
        guard bytes[start &+ 1] == UBXCommand.synchronisation.1 else { return .noMessage }
        guard start &+ UBXParser.headerByteCount <= count else { return .incomplete }
        let length = Int(bytes.span.littleEndian16(at: start &+ 4))
        guard length <= UBXParser.longestPayload else { return .noMessage }
        let checksumStart = start &+ UBXParser.headerByteCount &+ length
        let end = checksumStart &+ UBXParser.checksumByteCount
        guard end <= count else { return .incomplete }
        var checksum = UBXChecksum()
        for index in (start &+ 2)..<checksumStart { checksum.add(bytes[index]) }
        let isCorrect = bytes[checksumStart] == checksum.first && bytes[checksumStart &+ 1] == checksum.second
        return isCorrect ? .message(end: end) : .noMessage
    }

    private mutating func event(ofMessageAt start: Int, end: Int) -> GNSSEvent {
        let type = UBXMessageType(bytes[start &+ 2], bytes[start &+ 3])
        let payload = bytes.span.extracting((start &+ UBXParser.headerByteCount)..<(end &- UBXParser.checksumByteCount))
        if type == .navigationPVT, payload.count >= NavigationSolution.leastByteCount {
            return NavigationSolution.event(of: payload)
        }
        if type == .accepted || type == .refused, payload.count == 2 {
            return .answer(UBXMessageType(payload[0], payload[1]), isAccepted: type == .accepted)
        }
        if let offset = AntennaState.offset(in: type), offset < payload.count { return AntennaState.event(of: payload[offset]) }
        return .other
    }

    /// Drops bytes from the front.
    private mutating func drop(_ dropped: Int) {
        guard dropped > 0 else { return }
        for index in dropped..<count { bytes[index &- dropped] = bytes[index] }
        count &-= dropped
    }
}
