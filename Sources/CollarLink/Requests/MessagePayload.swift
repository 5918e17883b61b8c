import CollarWire

/// A value that a message between a program and the application in a collar carries: at most 20 bytes.
///
/// Fixed-width integers (most significant byte first), strings in UTF-8, arrays of bytes and ``NoPayload`` are ready. An enumeration with
/// such a raw value needs nothing but the name of this protocol:
///
///     enum LightMode: UInt8, MessagePayload { case off, on, blinking }
public protocol MessagePayload: Sendable {
    /// The most bytes that a value of the type takes, 0 … 20.
    static var maximumByteCount: Int { get }
    /// The bytes of the value.
    var payload: [UInt8] { get }
    /// Reads a value.
    /// - Throws: ``PayloadError`` if the bytes are no value of the type. They come from the radio: expect any.
    init(payload: [UInt8]) throws(PayloadError)
}

/// The bytes of a message are no value of the type that is expected.
public struct PayloadError: Error, Equatable, Sendable {
    /// Creates an error.
    public init() {}
}

/// The payload of a message that says everything by its code.
public struct NoPayload: MessagePayload, Equatable {
    /// Creates the empty payload.
    public init() {}
    /// 0.
    public static var maximumByteCount: Int { 0 }
    /// No bytes.
    public var payload: [UInt8] { [] }
    /// Accepts no bytes.
    public init(payload: [UInt8]) throws(PayloadError) { if !payload.isEmpty { throw PayloadError() } }
}

extension MessagePayload {
    /// 20, as many as a message can carry.
    public static var maximumByteCount: Int { ApplicationMessage.dataLimit }
}

extension MessagePayload where Self: FixedWidthInteger {
    /// The width of the type in bytes.
    public static var maximumByteCount: Int { bitWidth / 8 }

    /// The bytes, the most significant one first.
    public var payload: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }

    /// Reads as many bytes as the type has, the most significant one first.
    public init(payload: [UInt8]) throws(PayloadError) {
        guard payload.count == Self.bitWidth / 8 else { throw PayloadError() }
        self = payload.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension UInt8: MessagePayload {}
extension UInt16: MessagePayload {}
extension UInt32: MessagePayload {}
extension UInt64: MessagePayload {}
extension Int8: MessagePayload {}
extension Int16: MessagePayload {}
extension Int32: MessagePayload {}
extension Int64: MessagePayload {}

extension String: MessagePayload {
    /// The text in UTF-8.
    public var payload: [UInt8] { Array(utf8) }

    /// Reads UTF-8.
    public init(payload: [UInt8]) throws(PayloadError) {
        guard let text = String(validating: payload, as: UTF8.self) else { throw PayloadError() }
        self = text
    }
}

extension [UInt8]: MessagePayload {
    /// The array itself.
    public var payload: [UInt8] { self }
    /// Accepts all bytes.
    public init(payload: [UInt8]) { self = payload }
}

extension MessagePayload where Self: RawRepresentable, RawValue: MessagePayload {
    /// As that of the raw value.
    public static var maximumByteCount: Int { RawValue.maximumByteCount }
    /// The bytes of the raw value.
    public var payload: [UInt8] { rawValue.payload }

    /// Reads a raw value.
    public init(payload: [UInt8]) throws(PayloadError) {
        guard let value = Self(rawValue: try RawValue(payload: payload)) else { throw PayloadError() }
        self = value
    }
}
