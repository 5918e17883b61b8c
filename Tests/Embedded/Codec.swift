import CollarWire

extension Vector {
    /// Decodes a bare frame. The anchor of a live fix is the anchor of the vector.
    func decode(_ frame: Span<UInt8>) throws(DecodeError) -> Message {
        let header = try FrameHeader(frame)
        guard header.type == .liveFix else { return try Message.decode(frame, log: log, reference: reference) }
        guard let names = LiveFix.sequences(of: frame, header: header, reference: reference) else {
            throw .invalidField(.anchor, code: 0)
        }
        guard let log, let anchor, anchor.sequence == names.anchor else { throw .crcMismatch }
        return .fix(try LiveFix.decode(frame, sequence: names.sequence, anchor: anchor, log: log))
    }

    /// Encodes the message to which the vector decodes, with the vector's address, flags and width of the sequence.
    func encode(
        _ message: Message, _ expectation: Expectation, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        let address = bare[2]
        let flags = FrameFlags(rawValue: bare[1])
        // A frame that is not bound to a log is the same with any log.
        let log = log ?? LogIdentity(deviceID: 1, logID: 0)
        switch message {
        case .fix(let fix):
            guard let anchor else {
                let reference = isWide ? nil : fix.sequence
                return try message.encode(address: address, flags: flags, log: log, reference: reference, into: &output)
            }
            try LiveFix.encode(fix, anchor: anchor, address: address, flags: flags, log: log, into: &output)
        case .batch:
            var fixes = expectation.fixes
            guard let first = fixes.next() else { return }
            _ = try Batch.encode(first, address: address, flags: flags, log: log, into: &output) { fixes.next() }
        default: try message.encode(address: address, flags: flags, log: log, reference: nil, into: &output)
        }
    }

    /// Sets the vector's flags in a frame of a host or a base radio. The encoders of these frames take no flags, because hosts
    /// and base radios do not poll.
    func addFlags(to frame: inout OutputSpan<UInt8>) {
        let flags = FrameFlags(rawValue: bare[1])
        guard frame.count >= Frame.overheadByteCount, flags != FrameFlags(poll: nil),
            let type = MessageType(rawValue: bare[0] & 0x1F), !type.isFromCollar
        else { return }
        var bytes = frame.mutableSpan
        FrameCRC.seal(&bytes, flags: flags, log: log)
    }
}

extension StreamDecoder {
    /// The frames and faults in bytes that the decoder got one by one.
    struct Outcome {
        var frameCount = 0
        var faultCount = 0
        /// The last fault.
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
