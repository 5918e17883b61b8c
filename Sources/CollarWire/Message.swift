/// A decoded frame.
public enum Message: Equatable, Sendable {
    /// A collar says who it is.
    case identity(Identity)
    /// A fix in the absolute form.
    case fix(Fix)
    /// Several fixes of one log.
    case batch(Batch)
    /// A collar asks for an answer.
    case probe(Probe)
    /// A collar says what it will never send.
    case tombstone(Tombstone)
    /// A collar says how it is doing.
    case status(Status)
    /// A collar's settings, reported or ordered.
    case settings(Settings)
    /// A host asks for the settings.
    case settingsRequest(SettingsRequest)
    /// A host gives an order.
    case command(Command)
    /// A collar says what became of it.
    case commandResult(CommandResult)
    /// Bytes of an application.
    case application(ApplicationMessage)
    /// A base radio says who it is.
    case radioIdentity(RadioIdentity)
    /// A base radio says how its modem is set.
    case modemSettings(ModemSettings)
    /// A base radio says how well it heard a packet.
    case signalReport(SignalReport)
    /// A receiver says what it holds.
    case acknowledgement(Acknowledgement)
    /// A receiver asks who is there.
    case identityRequest(IdentityRequest)

    /// Decodes one bare frame: header, check, payload.
    /// - Parameters:
    ///   - log: the log the frame may be bound to; nil where the sender is unknown.
    ///   - reference: the highest sequence known of that log.
    /// - Throws: ``DecodeError``; ``DecodeError/checkFailed`` also for a bound frame where `log` is nil,
    ///   ``DecodeError/anchorNeeded`` for a live fix.
    public static func decode(
        _ frame: Span<UInt8>, log: LogIdentity?, reference: UInt32
    ) throws(DecodeError) -> Message {
        let header = try FrameHeader(frame)
        guard let type = header.type else { throw .unknownType(header.typeCode) }
        // Its check is bound to the anchor as well.
        guard type != .liveFix else { throw .anchorNeeded }
        guard !type.isBoundToLog || log != nil,
            FrameCheck.isValid(frame, log: type.isBoundToLog ? log : nil, reference: reference)
        else { throw .checkFailed }
        return try decodePayload(of: frame, header: header, type: type, reference: reference)
    }

    /// Decodes the payload of a frame whose header and check have been verified.
    public static func decodePayload(
        of frame: Span<UInt8>, header: FrameHeader, type: MessageType, reference: UInt32
    ) throws(DecodeError) -> Message {
        switch type {
        case .identity: .identity(try Identity(decoding: frame))
        case .absoluteFix: .fix(try AbsoluteFix.decode(frame, header: header, reference: reference))
        case .liveFix: throw .anchorNeeded
        case .batch: .batch(try Batch(decoding: frame, header: header))
        case .probe: .probe(try Probe(decoding: frame))
        case .status: .status(try Status(decoding: frame))
        case .settingsReport: .settings(try Settings(decoding: frame, direction: .report))
        case .settingsOrder: .settings(try Settings(decoding: frame, direction: .order))
        case .settingsRequest: .settingsRequest(try SettingsRequest(decoding: frame))
        case .command: .command(try Command(decoding: frame))
        case .commandResult: .commandResult(try CommandResult(decoding: frame))
        case .application0, .application1, .application2, .hostApplication0, .hostApplication1, .hostApplication2:
            .application(try ApplicationMessage(decoding: frame, type: type))
        case .radioIdentity: .radioIdentity(try RadioIdentity(decoding: frame))
        case .modemSettings: .modemSettings(try ModemSettings(decoding: frame))
        case .signalReport: .signalReport(try SignalReport(decoding: frame))
        case .tombstone: .tombstone(try Tombstone(decoding: frame))
        case .acknowledgement: .acknowledgement(try Acknowledgement(decoding: frame, header: header))
        case .identityRequest: .identityRequest(try IdentityRequest(decoding: frame))
        }
    }
}
