import CollarWire

/// A part of the codec that takes arbitrary bytes, and the rules that it must keep.
///
/// An input is a sequence of bytes: a *context* of fixed size (the knowledge of a receiver, or the cuts of a stream), then
/// the bytes of the line. An input of one frame has no CRC: the target computes the CRC, so that most inputs pass it.
public protocol FuzzTarget: AnyObject {
    /// The name of the target.
    var name: String { get }
    /// One line about the rules that the target checks.
    var meaning: String { get }
    /// Bytes of an input that are context.
    var contextByteCount: Int { get }
    /// The most bytes of an input, context included; at most ``SharedRecord/inputCapacity``.
    var maximumByteCount: Int { get }
    /// The number of executions for every hundred executions of an ordinary target.
    var share: Int { get }

    /// Inputs made from a vector, from which mutations start.
    func seeds(from vector: SeedVector) -> [[UInt8]]

    /// Makes the input of an execution, where inputs are not mutations of seeds.
    /// - Parameters:
    ///   - seed: differs between runs with another random seed.
    ///   - input: receives the input; it is empty.
    /// - Returns: false if inputs are mutations of seeds; then `input` remains empty.
    func makeInput(_ execution: UInt64, seed: UInt64, into input: inout [UInt8]) -> Bool

    /// Runs one input, which must have at least the context.
    func run(_ input: Span<UInt8>) -> Outcome

    /// The input in the terms of a vector.
    func describe(_ input: [UInt8]) -> InputDescription
}

extension FuzzTarget {
    /// The share of an ordinary target.
    public var share: Int { 100 }

    /// Inputs are mutations of seeds.
    public func makeInput(_ execution: UInt64, seed: UInt64, into input: inout [UInt8]) -> Bool { false }
}

/// The outcome of an input.
public enum Outcome {
    /// Refused for its size, its header or its CRC.
    case refused
    /// The CRC was correct, but the payload was refused.
    case behindCRC
    /// Decoded.
    case accepted
    /// The codec did what it must not do: a finding.
    case wrong(String)
}

/// The parts of a vector or a finding from which seeds are made.
public struct SeedVector: Sendable {
    /// The bare frame.
    public var bare: [UInt8]?
    /// Bytes of a serial line.
    public var serial: [UInt8]?
    /// The highest known sequence.
    public var reference: UInt32
    /// The anchor of a live fix.
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
    /// The bare frame with its CRC.
    public var bare: [UInt8]?
    /// Bytes of a serial line.
    public var serial: [UInt8]?
    /// Lengths of the pieces in which these bytes arrive.
    public var pieces: [Int]?
    /// The highest known sequence.
    public var reference: UInt32?
    /// The anchor of a live fix.
    public var anchor: Fix?
    /// The log to which the CRC is bound.
    public var log: LogIdentity?

    /// Creates an empty description.
    public init() {}
}
