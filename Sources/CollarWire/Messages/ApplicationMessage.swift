/// Bytes of an application, which the protocol carries and does not interpret.
public struct ApplicationMessage: Equatable, Sendable {
    /// The most bytes of an application that fit a frame of 253 bytes: 243.
    public static var maximumByteCount: Int { Frame.maximumPayloadByteCount - 3 }

    /// The number of the channel, 0 … 2; the three channels are independent.
    public var channel: UInt8
    /// Whether the host sends the message.
    public var isFromHost: Bool
    /// Whether the sender wants a reply, which has the same request id.
    public var wantsReply: Bool
    /// The id that a reply repeats.
    public var requestID: UInt16
    private var storage = InlineArray<243, UInt8>(repeating: 0)
    private var count = 0

    /// Creates a message; nil for more than 243 bytes or a channel above 2.
    public init?(
        channel: UInt8, isFromHost: Bool, wantsReply: Bool, requestID: UInt16, bytes: Span<UInt8>
    ) {
        guard channel <= 2, bytes.count <= ApplicationMessage.maximumByteCount else { return nil }
        self.channel = channel
        self.isFromHost = isFromHost
        self.wantsReply = wantsReply
        self.requestID = requestID
        for index in bytes.indices { storage[index] = bytes[index] }
        count = bytes.count
    }

    /// The bytes.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }

    private var type: MessageType {
        let first: MessageType = isFromHost ? .hostApplication0 : .application0
        return MessageType(rawValue: first.rawValue &+ min(channel, 2)) ?? first
    }

    /// Appends the bare frame.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(wantsReply ? 1 : 0, 1)
        payload.write(0, 7)
        payload.write(UInt32(requestID), 16)
        for index in 0..<count { payload.write(UInt32(storage[index]), 8) }
        let header = FrameHeader(type: type, flags: flags, address: address)
        try FrameEncoder.encode(header: header, payload: &payload, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    init(decoding frame: Span<UInt8>, type: MessageType) throws(DecodeError) {
        isFromHost = !type.isFromCollar
        channel = type.rawValue &- (isFromHost ? MessageType.hostApplication0 : .application0).rawValue
        let end = frame.count - CRC24.byteCount
        var reader = BitReader(frame, from: FrameHeader.byteCount, to: end)
        wantsReply = reader.read(1) == 1
        _ = reader.read(7)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        try reader.checkNotPastEnd()
        var index = FrameHeader.byteCount + 3
        while index < end {
            storage[count] = frame[index]
            count += 1
            index += 1
        }
    }

    /// Same fields and bytes.
    public static func == (left: ApplicationMessage, right: ApplicationMessage) -> Bool {
        guard left.channel == right.channel, left.isFromHost == right.isFromHost,
            left.wantsReply == right.wantsReply, left.requestID == right.requestID, left.count == right.count
        else { return false }
        for index in 0..<left.count where left.storage[index] != right.storage[index] { return false }
        return true
    }
}
