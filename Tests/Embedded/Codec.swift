import CollarWire

extension Vector {
    /// Decodes a bare frame, a live fix with the anchor it names.
    func decode(_ frame: Span<UInt8>) throws(DecodeError) -> Message {
        let header = try FrameHeader(frame)
        guard header.type == .liveFix else { return try Message.decode(frame, log: log, reference: reference) }
        guard let names = LiveFix.sequences(of: frame, header: header, reference: reference) else {
            throw .invalidField(.anchor, code: 0)
        }
        guard let log, let anchor, anchor.sequence == names.anchor else { throw .checkFailed }
        return .fix(try LiveFix.decode(frame, sequence: names.sequence, anchor: anchor, log: log))
    }

    /// Encodes what the vector decodes to, with its address, flags and width.
    func encode(
        _ message: Message, _ expectation: Expectation, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        let address = bare[2]
        let flags = FrameFlags(rawValue: bare[1])
        guard let log else { return try encodeUnbound(message, address, flags, into: &output) }
        switch message {
        case .fix(let fix):
            if let anchor {
                try LiveFix.encode(fix, anchor: anchor, address: address, flags: flags, log: log, into: &output)
            } else {
                try AbsoluteFix.encode(
                    fix, address: address, flags: flags, log: log, reference: isWide ? nil : fix.sequence,
                    into: &output)
            }
        case .batch:
            var fixes = expectation.fixes
            guard let first = fixes.next() else { return }
            _ = try Batch.encode(first, address: address, flags: flags, log: log, into: &output) { fixes.next() }
        case .tombstone(let tombstone): try tombstone.encode(address: address, flags: flags, log: log, into: &output)
        case .status(let status): try status.encode(address: address, flags: flags, log: log, into: &output)
        case .settings(let settings): try settings.encode(address: address, flags: flags, log: log, into: &output)
        case .settingsRequest(let request): try request.encode(address: address, log: log, into: &output)
        case .command(let command): try command.encode(address: address, log: log, into: &output)
        case .commandResult(let result): try result.encode(address: address, flags: flags, log: log, into: &output)
        case .application(let message): try message.encode(address: address, flags: flags, log: log, into: &output)
        case .acknowledgement(let answer): try answer.encode(address: address, log: log, into: &output)
        case .identity, .probe, .identityRequest, .radioIdentity, .modemSettings, .signalReport: return
        }
    }

    /// Gives the frame the vector's flags where its encoder takes none: hosts and base radios ask nothing.
    func addFlags(to frame: inout OutputSpan<UInt8>) {
        let flags = FrameFlags(rawValue: bare[1])
        guard frame.count >= Frame.overheadByteCount, flags != FrameFlags(ask: nil),
            let type = MessageType(rawValue: bare[0] & 0x1F), !type.isFromCollar
        else { return }
        var bytes = frame.mutableSpan
        FrameCheck.seal(&bytes, flags: flags, log: log)
    }

    private func encodeUnbound(
        _ message: Message, _ address: UInt8, _ flags: FrameFlags, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        switch message {
        case .identity(let identity): try identity.encode(address: address, flags: flags, into: &output)
        case .probe(let probe): try probe.encode(address: address, flags: flags, into: &output)
        case .identityRequest(let request): try request.encode(address: address, into: &output)
        case .radioIdentity(let identity): try identity.encode(into: &output)
        case .modemSettings(let settings): try settings.encode(into: &output)
        case .signalReport(let report): try report.encode(into: &output)
        default: return
        }
    }
}

extension StreamDecoder {
    /// What came of bytes that were given one by one.
    struct Outcome {
        var frameCount = 0
        var faultCount = 0
        /// The last one.
        var fault: StreamFault?
    }

    mutating func take(_ bytes: Span<UInt8>) -> Outcome {
        var outcome = Outcome()
        for start in bytes.indices {
            let byte = bytes.extracting(start..<start + 1)
            var index = 0
            while let event = next(in: byte, at: &index) {
                switch event {
                case .frame: outcome.frameCount &+= 1
                case .rejected(let fault):
                    outcome.faultCount &+= 1
                    outcome.fault = fault
                }
            }
        }
        return outcome
    }
}

/// Whether the bytes are the same.
func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}
