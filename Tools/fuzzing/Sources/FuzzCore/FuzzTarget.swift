import CollarWire

/// Something of the codec that takes any bytes.
///
/// An input is one run of bytes: a *context* of fixed size (what a receiver knows, how a stream is cut), then what
/// comes over the line. Checks of frames are not in it: a target computes them, so that most inputs get behind them.
public protocol FuzzTarget: AnyObject {
    /// What people call it.
    var name: String { get }
    /// One line about what it holds the codec to.
    var meaning: String { get }
    /// Bytes of an input that are context.
    var contextByteCount: Int { get }
    /// The most bytes of an input, context included; at most ``SharedRecord/inputCapacity``.
    var maximumByteCount: Int { get }
    /// How many executions it gets where an ordinary target gets a hundred.
    var share: Int { get }

    /// Inputs made from a vector, from which mutations start.
    func seeds(from vector: SeedVector) -> [[UInt8]]

    /// Runs one input: it must have the context at least.
    func run(_ input: Span<UInt8>) -> Outcome

    /// The input as people and vectors see it.
    func describe(_ input: [UInt8]) -> InputDescription
}

extension FuzzTarget {
    /// An ordinary target.
    public var share: Int { 100 }
}

/// What became of an input.
public enum Outcome {
    /// Refused for its size, its header or its check.
    case refused
    /// The check was right, and the payload was refused.
    case behindCheck
    /// Decoded.
    case accepted
    /// The codec did what it must not do: a finding.
    case wrong(String)
}

/// A vector, or a finding, as far as seeds are made from it.
public struct SeedVector: Sendable {
    /// The bare frame.
    public var bare: [UInt8]?
    /// Bytes of a serial line.
    public var serial: [UInt8]?
    /// The highest sequence known.
    public var reference: UInt32
    /// What a live fix is coded against.
    public var anchor: Fix?
    /// Whether an encoder writes the same bytes.
    public var isCanonical: Bool

    /// Creates a vector.
    public init(bare: [UInt8]?, serial: [UInt8]?, reference: UInt32, anchor: Fix?, isCanonical: Bool) {
        self.bare = bare
        self.serial = serial
        self.reference = reference
        self.anchor = anchor
        self.isCanonical = isCanonical
    }
}

/// An input in the terms of a vector.
public struct InputDescription: Sendable {
    /// The bare frame with its check.
    public var bare: [UInt8]?
    /// Bytes of a serial line.
    public var serial: [UInt8]?
    /// Lengths of the pieces in which they come.
    public var pieces: [Int]?
    /// The highest sequence known.
    public var reference: UInt32?
    /// What a live fix is coded against.
    public var anchor: Fix?
    /// What the check is bound to.
    public var log: LogIdentity?

    /// Nothing said yet.
    public init() {}
}
