import CollarWire

/// A sealed frame that is forged, in the bytes or in what a receiver holds against it.
struct ForgedFrame {
    /// The frame that is forged.
    let sample: SealedSample
    /// Another frame, of which it may get a part.
    let other: SealedSample
    /// The collar that sealed the first frame.
    let collar: FuzzedCollar
    var bytes: [UInt8]
    var presentation: Presentation
    /// The type of which the frame is taken to be; nil for the type in its header.
    var type: MessageType?
    /// The last way in which it was forged.
    private(set) var forgery: Forgery?

    /// - Parameter buffer: an array whose memory is used again.
    init(_ sample: SealedSample, other: SealedSample, collar: FuzzedCollar, buffer: consuming [UInt8]) {
        self.sample = sample
        self.other = other
        self.collar = collar
        bytes = buffer
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: sample.bytes)
        presentation = sample.presentation
    }

    /// Whether the frame is in truth not forged.
    var isAuthentic: Bool {
        guard type == nil else { return false }
        return bytes == sample.bytes && presentation.opens(sample) || bytes == other.bytes && presentation.opens(other)
    }

    /// Forges the frame in a random way, or in two. Afterwards it is not authentic.
    mutating func forge(_ random: inout SplitMix) {
        change(&random)
        if random.oneIn(8) { change(&random) }
        if random.oneIn(2) { presentation = presentation.following(bytes.span) }
        // A receiver looks into the header to see which end has sent a frame, and of which type it is.
        if let type, type.isFromCollar == MessageType(rawValue: bytes[0] % 32)?.isFromCollar { self.type = nil }
        while isAuthentic {
            flip(random.below(8 * bytes.count))
            forgery = .flippedBits
        }
    }

    private mutating func change(_ random: inout SplitMix) {
        var chosen = Forgery.flippedBits
        repeat {
            chosen = Forgery.allCases[random.below(Forgery.allCases.count)]
        } while !chosen.applies(to: sample)
        forgery = chosen
        switch chosen {
        case .randomBytes: fillWithRandomBytes(&random)
        case .flippedBits: flipBits(&random)
        case .otherLength: changeLength(&random)
        case .otherHeader: changeHeader(&random)
        case .spliced: splice(&random)
        case .otherNumber: changeNumber(&random)
        case .otherLog: changeLog(&random)
        case .otherKey: changeKey(&random)
        case .otherDevice: presentation.setKeys(collar.keysOfOtherDevice, deviceID: collar.otherDeviceID)
        case .otherReceiver: changeReceiver(&random)
        case .otherSequenceHalf: changeSequenceHalf(&random)
        case .otherAnchor: changeAnchor(&random)
        case .reflected: reflect(&random)
        }
    }
}
