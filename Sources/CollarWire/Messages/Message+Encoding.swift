extension Message {
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
