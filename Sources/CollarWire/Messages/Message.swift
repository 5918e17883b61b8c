/// A decoded frame.
public enum Message: Equatable, Sendable {
    /// A collar sends its identity.
    case identity(Identity)
    /// A fix in the absolute form.
    case fix(Fix)
    /// Several fixes of one log.
    case batch(Batch)
    /// A collar polls: it wants an answer.
    case probe(Probe)
    /// A collar names fixes that it will never send.
    case tombstone(Tombstone)
    /// A collar reports its status.
    case status(Status)
    /// A collar reports how it spends its battery.
    case powerReport(PowerReport)
    /// A collar's settings, reported or updated.
    case settings(Settings)
    /// A host asks for the settings.
    case settingsRequest(SettingsRequest)
    /// A host commands an action.
    case command(Command)
    /// A collar reports the result of a command.
    case commandResult(CommandResult)
    /// A message of a collar's application.
    case collarMessage(CollarMessage)
    /// A message of a program at the host.
    case hostMessage(HostMessage)
    /// A base radio sends its identity.
    case radioIdentity(RadioIdentity)
    /// A base radio reports the settings of its modem.
    case modemSettings(ModemSettings)
    /// A base radio reports how well it heard a packet.
    case signalReport(SignalReport)
    /// A receiver names the sequences that it holds durably.
    case acknowledgement(Acknowledgement)
    /// A receiver asks for the identity of one collar or of all collars.
    case identityRequest(IdentityRequest)

    /// Decodes one bare frame: header, CRC, payload.
    /// - Parameters:
    ///   - frame: the whole frame, without stuffing.
    ///   - log: the log to which the frame is bound, if its type is bound to one; nil if the sender is unknown.
    ///   - reference: the sequence around which a short sequence is completed, for example the highest one known of the log.
    /// - Throws: ``DecodeError``; ``DecodeError/crcMismatch`` also for a bound frame if `log` is nil;
    ///   ``DecodeError/anchorNeeded`` for a live fix.
    public static func decode(_ frame: Span<UInt8>, log: LogIdentity?, reference: UInt32) throws(DecodeError) -> Message {
        let header = try FrameHeader(frame)
        guard let type = header.type else { throw .unknownType(header.typeCode) }
        // The CRC of a live fix is bound to its anchor as well.
        guard type != .liveFix else { throw .anchorNeeded }
        guard !type.isBoundToLog || log != nil,
            FrameCRC.isValid(frame, log: type.isBoundToLog ? log : nil, reference: reference)
        else { throw .crcMismatch }
        return try decodePayload(of: frame, header: header, type: type, reference: reference)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
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
        case .powerReport: .powerReport(try PowerReport(decoding: frame))
        case .settingsReport: .settings(try Settings(decoding: frame, direction: .report))
        case .settingsUpdate: .settings(try Settings(decoding: frame, direction: .update))
        case .settingsRequest: .settingsRequest(try SettingsRequest(decoding: frame))
        case .command: .command(try Command(decoding: frame))
        case .commandResult: .commandResult(try CommandResult(decoding: frame))
        case .collarMessage: .collarMessage(try CollarMessage(decoding: frame))
        case .hostMessage: .hostMessage(try HostMessage(decoding: frame))
        case .radioIdentity: .radioIdentity(try RadioIdentity(decoding: frame))
        case .modemSettings: .modemSettings(try ModemSettings(decoding: frame))
        case .signalReport: .signalReport(try SignalReport(decoding: frame))
        case .tombstone: .tombstone(try Tombstone(decoding: frame))
        case .acknowledgement: .acknowledgement(try Acknowledgement(decoding: frame, header: header))
        case .identityRequest: .identityRequest(try IdentityRequest(decoding: frame))
        }
    }

    /// Appends the message as a bare frame. A fix gets the absolute form. Fixes of a batch that do not fit are left out.
    ///
    /// ```swift
    /// let message = Message.probe(Probe(logTag: log.tag, nextSequence: 7))
    /// let frame = try [UInt8](capacity: Frame.maximumByteCount) { output throws(EncodeError) in
    ///     try message.encode(address: 9, flags: FrameFlags(poll: nil), log: log, reference: nil, into: &output)
    /// }
    /// ```
    /// - Parameters:
    ///   - address: the collar's address, or ``Frame/broadcastAddress``; messages of a base radio ignore it.
    ///   - flags: flags of a collar's message; hosts and base radios send none.
    ///   - log: the log to which the CRC is bound, for a type that is bound to one.
    ///   - reference: the sequence that the sender of a fix assumes as the receiver's reference. It decides how many bits of the
    ///     fix's sequence are sent; with nil all are sent.
    ///   - output: the frame is appended here.
    /// - Throws: ``EncodeError`` if a field is out of range or the output is too small; then nothing is appended.
    ///
    /// Complexity: linear in the frame; for a batch quadratic in the number of its fixes.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, reference: UInt32?, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        switch self {
        case .identity(let identity): try identity.encode(address: address, flags: flags, into: &output)
        case .fix(let fix):
            try AbsoluteFix.encode(fix, address: address, flags: flags, log: log, reference: reference, into: &output)
        case .batch(let batch):
            guard let first = batch.fix(at: 0) else { return }
            var index = 0
            _ = try Batch.encode(first, address: address, flags: flags, log: log, into: &output) {
                index += 1
                return batch.fix(at: index)
            }
        case .probe(let probe): try probe.encode(address: address, flags: flags, into: &output)
        case .tombstone(let tombstone): try tombstone.encode(address: address, flags: flags, log: log, into: &output)
        case .status(let status): try status.encode(address: address, flags: flags, log: log, into: &output)
        case .powerReport(let report): try report.encode(address: address, flags: flags, log: log, into: &output)
        case .settings(let settings): try settings.encode(address: address, flags: flags, log: log, into: &output)
        case .settingsRequest(let request): try request.encode(address: address, log: log, into: &output)
        case .command(let command): try command.encode(address: address, log: log, into: &output)
        case .commandResult(let result): try result.encode(address: address, flags: flags, log: log, into: &output)
        case .collarMessage(let message): try message.encode(address: address, flags: flags, log: log, into: &output)
        case .hostMessage(let message): try message.encode(address: address, log: log, into: &output)
        case .radioIdentity(let identity): try identity.encode(into: &output)
        case .modemSettings(let settings): try settings.encode(into: &output)
        case .signalReport(let report): try report.encode(into: &output)
        case .acknowledgement(let acknowledgement): try acknowledgement.encode(address: address, log: log, into: &output)
        case .identityRequest(let request): try request.encode(address: address, into: &output)
        }
    }
}
