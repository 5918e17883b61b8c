/// A state that a collar's application and programs at its receivers share (PROTOCOL.md, section 16), with its version. An
/// ``ApplicationMessage`` of the code ``code`` carries it.
public struct SharedStateMessage: Equatable, Sendable {
    /// The code of messages that carry a shared state. No other message has it.
    public static var code: UInt8 { 255 }
    /// The most bytes of a state: a version and a state fill a message.
    public static var stateLimit: Int { ApplicationMessage.dataLimit - versionByteCount }

    private static var versionByteCount: Int { 8 }

    /// The version of the state. It grows with every change; the highest version wins. ``SettingsVersion/defaults`` if there is no state
    /// yet: a request with this version asks for the state and changes nothing. The origin 0 is the collar.
    public var version: SettingsVersion
    private var storage = InlineArray<12, UInt8>(repeating: 0)
    private var count = 0

    /// No state yet, or the question for it.
    public init() { version = .defaults }

    /// Creates a state; nil for more than ``stateLimit`` bytes.
    public init?(version: SettingsVersion, state: Span<UInt8>) {
        guard state.count <= SharedStateMessage.stateLimit else { return nil }
        self.version = version
        for index in state.indices { storage[index] = state[index] }
        count = state.count
    }

    /// Reads a message.
    /// - Returns: nil if it has another code, or too few bytes for a version.
    public init?(_ message: ApplicationMessage) {
        let data = message.data
        guard message.code == SharedStateMessage.code, data.count >= SharedStateMessage.versionByteCount else { return nil }
        var number: UInt64 = 0
        for index in 0..<SharedStateMessage.versionByteCount { number = number &<< 8 | UInt64(widening: UInt32(data[index])) }
        self.init(
            version: SettingsVersion(rawValue: number),
            state: data.extracting(SharedStateMessage.versionByteCount..<data.count))
    }

    /// The state, 0 … ``stateLimit`` bytes.
    public var state: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }

    /// The message that carries the state.
    /// - Parameters:
    ///   - kind: a request from a host; a reply or a notice from a collar.
    ///   - unixSeconds: when the message is made, in seconds since 1970; 0 if that is not known.
    public func message(_ kind: ApplicationMessage.Kind, unixSeconds: UInt32) -> ApplicationMessage {
        let bytes = InlineArray<20, UInt8> { (output: inout OutputSpan<UInt8>) in
            var rest = version.rawValue
            for _ in 0..<SharedStateMessage.versionByteCount {
                output.append(UInt8(truncatingIfNeeded: rest &>> 56))
                rest = rest &<< 8
            }
            for index in 0..<SharedStateMessage.stateLimit { output.append(storage[index]) }
        }
        let data = bytes.span.extracting(0..<(SharedStateMessage.versionByteCount + count))
        guard let message = ApplicationMessage(kind: kind, code: SharedStateMessage.code, unixSeconds: unixSeconds, data: data)
        else { preconditionFailure("a version and a state fill a message at most") }
        return message
    }

    /// Same version and same bytes.
    public static func == (left: SharedStateMessage, right: SharedStateMessage) -> Bool {
        left.version == right.version && left.hasSameState(as: right)
    }

    /// Whether the bytes of both states are the same, whatever their versions are.
    public func hasSameState(as other: SharedStateMessage) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where storage[index] != other.storage[index] { return false }
        return true
    }
}
