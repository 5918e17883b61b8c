import CollarWire

/// The context of an input that holds a frame: the highest known sequence (4 bytes), then a control byte that says whether
/// the CRC or the anchor is wrong. Header and payload follow.
public struct FrameInput: Sendable {
    /// Bytes of the context.
    public static let contextByteCount = 5
    /// The lowest control byte with which the CRC is damaged.
    private static let firstDamage: UInt8 = 0xF0
    /// From this control byte up to the damages, a live fix is decoded with another anchor than it was sealed with.
    private static let firstWrongAnchor: UInt8 = 0xE0

    /// The highest known sequence.
    public let reference: UInt32
    private let control: UInt8

    /// Reads the context of an input.
    public init(_ input: Span<UInt8>) {
        reference = (0..<4).reduce(0) { $0 &<< 8 | UInt32(input[$1]) }
        control = input[4]
    }

    /// The context of a frame with a correct CRC.
    public static func context(reference: UInt32) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: reference &>> UInt32(8 * $0)) } + [0]
    }

    /// The bits in which the CRC is wrong; 0 if it is correct.
    public var damage: UInt8 { control >= FrameInput.firstDamage ? control : 0 }

    /// Whether a live fix is decoded with another anchor than it was coded against.
    public var hasWrongAnchor: Bool { control >= FrameInput.firstWrongAnchor && damage == 0 }
}
