import CollarWire

/// Checks that a decoded message can be encoded, is decoded to the same message again, and is encoded to the same bytes from
/// then on.
public final class RoundTripTarget: FuzzTarget {
    public let name = "round-trip"
    public let meaning = "any frame: what is decoded is written and read again alike, canonical bytes as they were"
    public let contextByteCount = FrameInput.contextByteCount
    public let maximumByteCount = FrameInput.contextByteCount + 280
    /// This target covers more than one type.
    public let share = 300
    /// Digests of the inputs that an encoder must reproduce.
    private var canonical: Set<UInt64> = []

    /// Creates a target without canonical inputs; ``seeds(from:)`` adds them.
    public init() {}

    public func seeds(from vector: SeedVector) -> [[UInt8]] {
        let isLive = vector.bare?.first.map { $0 % 32 } == MessageType.liveFix.rawValue
        let seeds = isLive ? [] : FrameReading.seeds(from: vector)
        if vector.isCanonical { canonical.formUnion(seeds.map { RoundTripTarget.digest($0.span) }) }
        return seeds
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        let context = FrameInput(input)
        let frame = FrameReading.frame(in: input)
        let reading = FrameReading.read(frame.span, reference: context.reference)
        guard case .success(let message) = reading else {
            return FrameReading.judge(reading, of: frame.span, context: context)
        }
        do throws(EncodeError) {
            let written = try write(message, like: frame.span)
            let again = FrameReading.read(written.span, reference: context.reference)
            // A form of a batch that only receivers accept may be shorter than that of an encoder, which then fits fewer fixes.
            if case .success(.batch(let part)) = again, case .batch(let whole) = message, whole.begins(with: part) {
                return .accepted
            }
            guard again == .success(message) else {
                return .wrong("\(message) was written as \(written), which is not read as the same")
            }
            guard try write(message, like: written.span) == written else {
                return .wrong("\(message) was written in two ways")
            }
            let isCanonical =
                RoundTripTarget.isOneToOne(frame[0] % 32) || canonical.contains(RoundTripTarget.digest(input))
            if isCanonical, !hasSamePayload(written.span, frame.span) {
                return .wrong("\(message) was written as \(written), not as the canonical bytes")
            }
        } catch {
            return .wrong("\(message) was read and cannot be written: \(error)")
        }
        return .accepted
    }

    public func describe(_ input: [UInt8]) -> InputDescription { FrameReading.describe(input) }

    private func write(_ message: Message, like frame: Span<UInt8>) throws(EncodeError) -> [UInt8] {
        // The input's form of the sequence is kept: it is short if the sender has a reference near the sequence.
        var near: UInt32?
        if case .fix(let fix) = message, frame[5] & 0x80 == 0 { near = fix.sequence }
        return try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try message.encode(
                address: frame[2], flags: FrameFlags(rawValue: frame[1]), log: .fuzzed, reference: near, into: &output)
        }
    }

    /// Whether a type has no reserved bits and no alternative forms, so that all of its valid payloads are canonical.
    private static func isOneToOne(_ typeCode: UInt8) -> Bool {
        [5, 7, 8, 9, 12, 16, 17, 18, 19, 20].contains(typeCode)
    }

    private func hasSamePayload(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count, left[0] == right[0] else { return false }
        for index in 4..<left.count - 3 where left[index] != right[index] { return false }
        return true
    }

    private static func digest(_ bytes: Span<UInt8>) -> UInt64 {
        var digest = Digest()
        for index in bytes.indices { digest.add(bytes[index]) }
        return digest.value
    }
}

extension Batch {
    /// Whether this batch begins with all fixes of a shorter batch.
    fileprivate func begins(with other: Batch) -> Bool {
        var fixes: [Fix] = []
        var others: [Fix] = []
        forEach { fixes.append($0) }
        other.forEach { others.append($0) }
        return others.count < fixes.count && fixes.starts(with: others)
    }
}
