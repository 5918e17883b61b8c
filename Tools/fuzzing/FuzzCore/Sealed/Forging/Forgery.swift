import CollarWire

/// The ways in which a sealed frame is forged.
enum Forgery: Int, CaseIterable {
    case randomBytes, flippedBits, otherLength, otherHeader, spliced
    case otherNumber, otherLog, otherKey, otherDevice, otherReceiver, otherSequenceHalf, otherAnchor
    case reflected

    /// What such a frame is called.
    var name: String {
        switch self {
        case .randomBytes: "random bytes"
        case .flippedBits: "flipped bits"
        case .otherLength: "another length"
        case .otherHeader: "another header"
        case .spliced: "parts of two frames"
        case .otherNumber: "another number"
        case .otherLog: "another log"
        case .otherKey: "another key"
        case .otherDevice: "another device id"
        case .otherReceiver: "another receiver"
        case .otherSequenceHalf: "another upper half of the sequence"
        case .otherAnchor: "another anchor"
        case .reflected: "the frame of the other end"
        }
    }

    /// Whether a frame can be forged in this way.
    func applies(to sample: SealedSample) -> Bool {
        switch self {
        // An identity names its log and its number, which no receiver holds against it.
        case .otherNumber, .otherLog: sample.type != .identity
        case .otherReceiver: !sample.type.isFromCollar
        case .otherSequenceHalf: sample.type == .absoluteFix && !sample.isWide
        case .otherAnchor: sample.type == .liveFix
        default: true
        }
    }
}
