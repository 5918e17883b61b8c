import CollarWire

/// Decodes any live fix with any anchor.
public final class LiveTarget: FuzzTarget {
    public let name = "live"
    public let meaning =
        "live fixes against any anchor: only the payload is read, results are fixes and are written again"
    public let contextByteCount = FrameInput.contextByteCount + AnchorBytes.count
    public let maximumByteCount = FrameInput.contextByteCount + AnchorBytes.count + 280
    /// A live fix has more to check than other types.
    public let share = 300

    /// Creates the target.
    public init() {}

    public func seeds(from vector: SeedVector) -> [[UInt8]] {
        guard let bare = vector.bare, bare.count >= 7, bare[0] % 32 == MessageType.liveFix.rawValue else { return [] }
        let anchor = vector.anchor ?? Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        return [
            FrameInput.context(reference: vector.reference) + AnchorBytes.bytes(of: anchor) + bare.dropLast(3)
        ]
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        let context = FrameInput(input)
        let given = LiveInput(input)
        if let refusal = HeaderModel.refusal(of: given.frame.span) {
            let header: DecodeError?
            do throws(DecodeError) {
                _ = try FrameHeader(given.frame.span)
                header = nil
            } catch { header = error }
            return header == refusal ? .refused : .wrong("refused as \(String(describing: header)), not as \(refusal)")
        }
        guard let anchor = given.anchor else {
            return given.readNames() == nil ? .refused : .wrong("the anchor that is named depends on the CRC")
        }
        let reading = given.read(anchor: anchor)
        if context.hasWrongAnchor {
            var other = anchor
            other.sequence ^= 1
            let reading = given.read(anchor: other)
            return reading == .failure(.crcMismatch) ? .refused : .wrong("with another anchor it was \(reading)")
        }
        if context.damage != 0 {
            return reading == .failure(.crcMismatch) ? .refused : .wrong("with a wrong CRC it was \(reading)")
        }
        // The twin has another address and one more zero byte. Neither may change the result: a decoder reads zeros after the
        // payload.
        let twin = LiveInput(input, isTwin: true)
        let twinReading = twin.read(anchor: anchor)
        guard reading == twinReading else {
            return .wrong("it depends on bytes outside header and payload: \(reading), then \(twinReading)")
        }
        switch reading {
        case .failure(.invalidField(.difference, _)): return .behindCRC
        case .failure(let error): return .wrong("refused as \(error), although header and CRC are right")
        case .success(let fix): return writeAgain(fix, anchor, given.frame.span)
        }
    }

    public func describe(_ input: [UInt8]) -> InputDescription {
        let given = LiveInput(input.span)
        var description = InputDescription()
        description.bare = given.frame.span.indices.map { given.frame.span[$0] }
        description.reference = given.reference
        description.anchor = given.anchor
        description.log = .fuzzed
        return description
    }

    private func writeAgain(_ fix: Fix, _ anchor: Fix, _ frame: Span<UInt8>) -> Outcome {
        do throws(EncodeError) { try fix.validate() } catch { return .wrong("\(fix) is out of range: \(error)") }
        do throws(EncodeError) {
            let written = try [UInt8](capacity: Frame.maximumByteCount) {
                (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try LiveFix.encode(
                    fix, anchor: anchor, address: frame[2], flags: FrameFlags(rawValue: frame[1]), log: .fuzzed,
                    into: &output)
            }
            let again = LiveInput.read(written.span, sequence: fix.sequence, anchor: anchor)
            return again == .success(fix) ? .accepted : .wrong("\(fix) was written as \(written) and read as \(again)")
        } catch {
            return .wrong("\(fix) was read and cannot be written: \(error)")
        }
    }
}
