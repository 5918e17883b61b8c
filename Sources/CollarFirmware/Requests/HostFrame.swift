import CollarWire

/// What a host sends to a collar, in clear. A decoder of every message would need four times as much program memory.
enum HostFrame {
    case acknowledgement(Acknowledgement)
    case identityRequest
    case settingsRequest(SettingsRequest)
    case settingsUpdate(Settings)
    case command(Command)
    case message(HostMessage)

    /// Decodes a frame of a host.
    /// - Throws: ``DecodeError``; ``DecodeError/unknownType(_:)`` also for a frame of a collar or a base radio.
    init(decoding frame: Span<UInt8>, log: LogIdentity) throws(DecodeError) {
        let header = try FrameHeader(frame)
        guard let type = header.type, !type.isFromCollar else { throw .unknownType(header.typeCode) }
        guard FrameCRC.isValid(frame, log: type.isBoundToLog ? log : nil) else { throw .crcMismatch }
        switch type {
        case .acknowledgement: self = .acknowledgement(try Acknowledgement(decoding: frame, header: header))
        case .identityRequest:
            _ = try IdentityRequest(decoding: frame)
            self = .identityRequest
        case .settingsRequest: self = .settingsRequest(try SettingsRequest(decoding: frame))
        case .settingsUpdate: self = .settingsUpdate(try Settings(decoding: frame, direction: .update))
        case .command: self = .command(try Command(decoding: frame))
        case .hostMessage: self = .message(try HostMessage(decoding: frame))
        case .identity, .absoluteFix, .liveFix, .batch, .probe, .status, .settingsReport, .commandResult, .collarMessage,
            .radioIdentity, .modemSettings, .signalReport, .tombstone:
            throw .unknownType(header.typeCode)
        }
    }
}
