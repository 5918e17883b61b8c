import CollarWire

/// The context of an input that holds a frame: highest sequence known (4 bytes), then what is wrong with the check
/// (1 byte). Header and payload follow.
public struct FrameInput: Sendable {
    /// Bytes of the context.
    public static let contextByteCount = 5
    /// From here up the check is damaged, below it is right.
    private static let firstDamage: UInt8 = 0xF0
    /// From here up to the damages a live fix is read with another anchor than it was sealed with.
    private static let firstWrongAnchor: UInt8 = 0xE0

    /// The highest sequence known.
    public let reference: UInt32
    private let control: UInt8

    /// Reads the context.
    public init(_ input: Span<UInt8>) {
        reference = (0..<4).reduce(0) { $0 &<< 8 | UInt32(input[$1]) }
        control = input[4]
    }

    /// The context of a good frame.
    public static func context(reference: UInt32) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: reference &>> UInt32(8 * $0)) } + [0]
    }

    /// The bits in which the check is wrong.
    public var damage: UInt8 { control >= FrameInput.firstDamage ? control : 0 }

    /// Whether a live fix is read with an anchor that it was not made from.
    public var hasWrongAnchor: Bool { control >= FrameInput.firstWrongAnchor && damage == 0 }
}
