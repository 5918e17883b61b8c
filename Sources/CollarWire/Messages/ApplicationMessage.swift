/// A message between a program at the host and the application in a collar (PROTOCOL.md, section 16). The protocol carries the
/// code and the data and does not interpret them.
public struct ApplicationMessage: Equatable, Sendable {
    /// Whether a message asks, answers, or does neither.
    public enum Kind: Equatable, Sendable {
        /// A message that wants no reply.
        case notice
        /// A message that wants a reply.
        case request
        /// A reply. `to` is the request that it answers: the sequence of a collar's request, or the request id of a host's.
        case reply(to: UInt32, CommandResult.Outcome)

        fileprivate var code: UInt32 {
            switch self {
            case .notice: 0
            case .request: 1
            case .reply: 2
            }
        }
    }

    /// The most bytes of data, 20: a reply of the host then fits 51 bytes when it is sealed.
    public static var dataLimit: Int { 20 }
    /// Bytes of the largest message without the fields before it, 30.
    public static var maximumByteCount: Int { 10 + dataLimit }

    /// Whether the message asks, answers, or does neither.
    public var kind: Kind
    /// Whether the message answers a request.
    public var isReply: Bool { if case .reply = kind { true } else { false } }
    /// The meaning of the message, which the applications agree on.
    public var code: UInt8
    /// When the message was made, in seconds since 1970; 0 if the sender did not know the time.
    public var unixSeconds: UInt32
    private var storage = InlineArray<20, UInt8>(repeating: 0)
    private var count = 0

    /// Creates a message; nil for more than ``dataLimit`` bytes.
    public init?(kind: Kind, code: UInt8, unixSeconds: UInt32, data: Span<UInt8>) {
        guard data.count <= ApplicationMessage.dataLimit else { return nil }
        self.kind = kind
        self.code = code
        self.unixSeconds = unixSeconds
        for index in data.indices { storage[index] = data[index] }
        count = data.count
    }

    /// The data, 0 … ``dataLimit`` bytes.
    public var data: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }

    /// Writes the message. A log in flash or on disk keeps messages in this form.
    public func write(into writer: inout BitWriter) {
        writer.write(kind.code, 2)
        writer.write(0, 2)
        if case .reply(let request, let outcome) = kind {
            writer.write(UInt32(outcome.rawValue), 4)
            writer.write(UInt32(code), 8)
            writer.write(unixSeconds, 32)
            writer.write(request, 32)
        } else {
            writer.write(UInt32(code), 12)
            writer.write(unixSeconds, 32)
        }
        for index in 0..<count { writer.write(UInt32(storage[index]), 8) }
    }

    /// Reads a message that fills the rest of `reader`. The caller checks the end.
    @_lifetime(reader: copy reader)
    init(from reader: inout BitReader) {
        let kindCode = reader.read(2)
        reader.require(kindCode <= 2, .messageKind, kindCode)
        _ = reader.read(2)
        let outcomeCode = reader.read(4)
        let outcome = kindCode == 2 ? reader.outcome(of: outcomeCode) : .ok
        code = UInt8(truncatingIfNeeded: reader.read(8))
        unixSeconds = reader.read(32)
        switch kindCode {
        case 0: kind = .notice
        case 1: kind = .request
        default: kind = .reply(to: reader.read(32), outcome)
        }
        let rest = reader.remainingBitCount &>> 3
        reader.require(rest <= ApplicationMessage.dataLimit, .messageLength, UInt32(truncatingIfNeeded: max(rest, 0)))
        while count < ApplicationMessage.dataLimit, reader.remainingBitCount >= 8 {
            storage[count] = UInt8(truncatingIfNeeded: reader.read(8))
            count += 1
        }
    }

    /// Reads a message that ``write(into:)`` wrote, from the whole of `bytes`.
    public init(storedIn bytes: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(bytes, from: 0, to: bytes.count)
        self.init(from: &reader)
        try reader.checkEnd()
    }

    /// Same fields and bytes.
    public static func == (left: ApplicationMessage, right: ApplicationMessage) -> Bool {
        guard left.kind == right.kind, left.code == right.code, left.unixSeconds == right.unixSeconds,
            left.count == right.count
        else { return false }
        for index in 0..<left.count where left.storage[index] != right.storage[index] { return false }
        return true
    }
}

/// A message of a collar's application. It has a sequence in the collar's log, as a fix has.
public struct CollarMessage: Equatable, Sendable {
    /// The sequence in the log, 0 … 2^32 − 2.
    public var sequence: UInt32
    /// The message.
    public var content: ApplicationMessage

    /// Creates a message of a collar.
    public init(sequence: UInt32, content: ApplicationMessage) {
        self.sequence = sequence
        self.content = content
    }

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/field(_:value:)`` for the sequence 2^32 − 1, which no entry of a log has.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        guard sequence <= Fix.maximumSequence else { throw .field(.sequence, value: sequence) }
        var payload = BitWriter()
        payload.write(sequence, 32)
        content.write(into: &payload)
        try payload.encode(as: .collarMessage, flags: flags, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        sequence = reader.read(32)
        reader.require(sequence <= Fix.maximumSequence, .sequence, sequence)
        content = ApplicationMessage(from: &reader)
        try reader.checkEnd()
    }
}

/// A message of a program at the host. A collar treats it as a command: a repeat does not reach the application, and gets the
/// earlier result once there is one. A repeat has the same receiver id and request id, and the same low 7 bits of the sum of
/// code and time.
public struct HostMessage: Equatable, Sendable {
    /// The id that the result repeats.
    public var requestID: UInt16
    /// The receiver that sends the message; not 0.
    public var receiverID: UInt32
    /// The message.
    public var content: ApplicationMessage

    /// Creates a message of a host.
    public init(requestID: UInt16, receiverID: UInt32, content: ApplicationMessage) {
        self.requestID = requestID
        self.receiverID = receiverID
        self.content = content
    }

    /// Appends the bare frame, at most 43 bytes.
    /// - Throws: ``EncodeError/field(_:value:)`` if the receiver id is 0.
    public func encode(address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard receiverID != 0 else { throw .field(.receiver, value: 0) }
        var payload = BitWriter()
        payload.write(UInt32(requestID), 16)
        payload.write(receiverID, 32)
        content.write(into: &payload)
        try payload.encode(as: .hostMessage, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        receiverID = reader.readReceiverID()
        content = ApplicationMessage(from: &reader)
        try reader.checkEnd()
    }
}
