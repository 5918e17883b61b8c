import CollarWire

/// Decodes any payload of one type of message, or any frame at all.
public final class MessageTarget: FuzzTarget {
    public let name: String
    public let contextByteCount = FrameInput.contextByteCount
    public let maximumByteCount = FrameInput.contextByteCount + 280
    private let type: MessageType?

    /// Creates the target of a type.
    /// - Parameter type: nil for all types, unknown types included.
    public init(_ type: MessageType?) {
        self.type = type
        name = type.map { kebabCase("\($0)") } ?? "frame"
    }

    public var meaning: String {
        type == nil
            ? "any frame: it is refused for its size, header or CRC exactly where it must be"
            : "this type with any payload: the result depends on header and payload alone"
    }

    public func seeds(from vector: SeedVector) -> [[UInt8]] { FrameReading.seeds(from: vector, type: type) }

    public func run(_ input: Span<UInt8>) -> Outcome {
        let context = FrameInput(input)
        let frame = FrameReading.frame(in: input, type: type)
        let reading = FrameReading.read(frame.span, reference: context.reference)
        let twin = FrameReading.frame(in: input, type: type, isTwin: true)
        let twinReading = FrameReading.read(twin.span, reference: context.reference)
        guard reading == twinReading else {
            return .wrong("it depends on bytes outside header and payload: \(reading), then \(twinReading)")
        }
        if case .success(.fix(let fix)) = reading {
            do throws(EncodeError) { try fix.validate() } catch { return .wrong("out of range: \(error) of \(fix)") }
        }
        return FrameReading.judge(reading, of: frame.span, context: context)
    }

    public func describe(_ input: [UInt8]) -> InputDescription { FrameReading.describe(input, type: type) }
}

/// The name of an enumeration case in lower-case letters with hyphens.
private func kebabCase(_ name: String) -> String {
    name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
}
