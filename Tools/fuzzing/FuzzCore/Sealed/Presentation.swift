import CollarWire

/// The values with which a receiver tries to open a sealed frame.
struct Presentation {
    private(set) var keys: NamedKeys
    /// The log of the collar to which the keys belong.
    var log: LogIdentity
    /// The number of a collar's frame, or of the frame whose poll a host answers.
    var number: FrameNumber
    var binding: SealedBinding
    /// The collar's receiver. It matters only for a host's frame that does not name its receiver.
    var receiverID: UInt32
    /// The number of the poll that a host answers.
    var poll: PollNumber?

    init(_ collar: FuzzedCollar, number: FrameNumber, binding: SealedBinding, poll: PollNumber?) {
        keys = collar.keys
        log = collar.log
        self.number = number
        self.binding = binding
        receiverID = collar.receiverID
        self.poll = poll
    }

    /// Takes other keys. They belong to the collar with this device id.
    mutating func setKeys(_ keys: NamedKeys, deviceID: DeviceID) {
        self.keys = keys
        log = LogIdentity(deviceID: deviceID, logID: log.logID)
    }

    /// Whether a frame opens with these values as it was sealed.
    func opens(_ sample: SealedSample) -> Bool {
        let own = sample.presentation
        guard keys.name == own.keys.name else { return false }
        // An identity names its log and its number.
        if sample.type == .identity { return true }
        guard log == own.log, number == own.number else { return false }
        guard sample.type.isFromCollar else {
            return SealedTypes.hasReceiverID(sample.type) || receiverID == own.receiverID
        }
        switch (binding, own.binding) {
        case (.sequence(let sequence), .sequence(let ownSequence)):
            return sample.isWide || sequence &>> 16 == ownSequence &>> 16
        case (.anchor(let anchor), .anchor(let ownAnchor)): return anchor == ownAnchor
        // A fix that holds its whole sequence opens without one.
        case (.none, .sequence): return sample.isWide
        case (.none, .none): return true
        default: return false
        }
    }

    /// The same with the numbers of a frame, as far as a receiver takes them from there. The frame has a whole header.
    func following(_ frame: Span<UInt8>) -> Presentation {
        var next = self
        if SealedTypes.isFromCollar(frame), let counter = SealedFrame.counter(in: frame) {
            next.number.counter = counter.isWhole ? counter.value : number.counter & ~0xFF | counter.value
        } else {
            next.number.counter = number.counter & ~0xFF | UInt32(frame[3])
        }
        if case .anchor(var anchor) = binding,
            let sequence = SealedFrame.anchorSequence(of: frame, below: anchor.sequence)
        {
            anchor.sequence = sequence
            next.binding = .anchor(anchor)
        }
        return next
    }
}

extension SealedTypes {
    /// Whether a frame has the type of a collar's frame that is not an identity.
    fileprivate static func isFromCollar(_ frame: Span<UInt8>) -> Bool {
        guard let type = MessageType(rawValue: frame[0] % 32) else { return false }
        return type.isFromCollar && type != .identity
    }
}
