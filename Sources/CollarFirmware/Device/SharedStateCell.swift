import CollarWire

/// The collar's end of a shared state (PROTOCOL.md, section 16), for the application of a ``CollarBoard``.
///
/// The application passes on each message of the host, sends what the cell returns, and keeps ``contents`` over a reboot whenever they
/// have changed.
public struct SharedStateCell: Equatable, Sendable {
    /// The state in force, with its version.
    public private(set) var contents: SharedStateMessage

    /// Creates a cell.
    /// - Parameter contents: what the application has kept; by default no state.
    public init(_ contents: SharedStateMessage = SharedStateMessage()) { self.contents = contents }

    /// Takes a message of the host. If the state in it has a higher version, it is in force from now on.
    /// - Parameters:
    ///   - message: the message.
    ///   - unixSeconds: the time, in seconds since 1970; 0 if it is not known.
    /// - Returns: the reply to send, with the state in force; nil if the message does not concern the shared state.
    public mutating func take(_ message: HostMessage, unixSeconds: UInt32) -> ApplicationMessage? {
        guard message.content.kind == .request, message.content.code == SharedStateMessage.code else { return nil }
        let outcome = take(message.content)
        return contents.message(.reply(to: UInt32(message.requestID), outcome), unixSeconds: unixSeconds)
    }

    private mutating func take(_ message: ApplicationMessage) -> CommandResult.Outcome {
        guard let offered = SharedStateMessage(message), offered.version.isPlausible(after: contents.version) else { return .invalid }
        // A question, or a repeat.
        if offered.version == .defaults || offered == contents { return .ok }
        guard offered.version > contents.version else { return .conflict }
        contents = offered
        return .ok
    }

    /// Puts a state of the application in force.
    /// - Parameters:
    ///   - state: the state, at most `SharedStateMessage.stateLimit` bytes.
    ///   - unixMilliseconds: the time, in milliseconds since 1970; 0 if it is not known.
    /// - Returns: the notice to send; nil, with nothing changed, if the state is too long or there is no higher version.
    public mutating func change(to state: Span<UInt8>, unixMilliseconds: Int64) -> ApplicationMessage? {
        guard let version = SettingsVersion(after: contents.version, unixMilliseconds: unixMilliseconds, receiverID: 0),
            let changed = SharedStateMessage(version: version, state: state)
        else { return nil }
        contents = changed
        let seconds = UInt64(bitPattern: min(max(unixMilliseconds, 0) / 1000, 0xFFFF_FFFF))
        return changed.message(.notice, unixSeconds: UInt32(truncatingIfNeeded: seconds))
    }
}
