import CollarWire

/// A clear frame with valid content, which can be sealed.
struct ClearFrame {
    private(set) var bytes: [UInt8] = []
    /// The value that the tag of a fix covers in addition to the frame.
    private(set) var binding = SealedBinding.none
    /// The number of the poll that an acknowledgement answers.
    private(set) var poll: PollNumber?
    /// The receiver that a host's frame names.
    private(set) var receiverID: UInt32?

    /// Makes a frame.
    /// - Parameters:
    ///   - type: one that is sealed.
    ///   - bootCount: the boot count in an identity.
    init(_ type: MessageType, of collar: FuzzedCollar, bootCount: UInt32, random: inout SplitMix) {
        let address = UInt8(1 + random.below(254))
        let flags = FrameFlags(
            poll: type.isFromCollar ? PollNumber(rawValue: UInt8(random.below(8))) : nil,
            isDeliveredElsewhere: type == .tombstone && random.oneIn(2))
        // Most frames are short.
        let limit = random.oneIn(8) ? Frame.maximumByteCount - 8 : Frame.minimumLimitByteCount
        let log = collar.log
        do throws(EncodeError) {
            switch type {
            case .absoluteFix:
                let fix = random.fix()
                binding = .sequence(fix.sequence)
                let reference: UInt32? = random.oneIn(3) ? nil : fix.sequence
                bytes = try ClearFrame.written(limit) { output throws(EncodeError) in
                    try AbsoluteFix.encode(
                        fix, address: address, flags: flags, log: log, reference: reference, into: &output)
                }
            case .liveFix:
                let anchor = random.fix()
                var fix = random.successor(of: anchor)
                fix.sequence = anchor.sequence + 1 + UInt32(random.below(Int(LiveFix.maximumLead)))
                binding = .anchor(anchor)
                bytes = try ClearFrame.written(limit) { output throws(EncodeError) in
                    try LiveFix.encode(fix, anchor: anchor, address: address, flags: flags, log: log, into: &output)
                }
            case .batch:
                var fix = random.fix()
                var rest = random.below(limit / 4)
                bytes = try ClearFrame.written(limit) { output throws(EncodeError) in
                    _ = try Batch.encode(fix, address: address, flags: flags, log: log, into: &output) {
                        guard rest > 0 else { return nil }
                        rest -= 1
                        fix = random.successor(of: fix)
                        return fix
                    }
                }
            default:
                let message = random.message(type, of: collar, bootCount: bootCount)
                poll = message.answeredPoll
                receiverID = message.receiverID
                bytes = try ClearFrame.written(limit) { output throws(EncodeError) in
                    try message.encode(address: address, flags: flags, log: log, reference: nil, into: &output)
                }
            }
        } catch {
            preconditionFailure("the content is valid: \(error)")
        }
    }

    private static func written(
        _ limit: Int, _ write: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void
    ) throws(EncodeError) -> [UInt8] {
        try [UInt8](capacity: limit) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in try write(&output) }
    }
}

extension Message {
    fileprivate var answeredPoll: PollNumber? {
        if case .acknowledgement(let answer) = self { answer.poll } else { nil }
    }

    /// The receiver that the message names as its sender.
    fileprivate var receiverID: UInt32? {
        switch self {
        case .acknowledgement(let answer): answer.receiverID
        case .command(let command): command.receiverID
        case .hostMessage(let message): message.receiverID
        default: nil
        }
    }
}
