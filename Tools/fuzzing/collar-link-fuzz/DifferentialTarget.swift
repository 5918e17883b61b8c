import CollarWire
import FuzzCore

/// Checks that the codec and the independent decoder give the same result for any frame.
final class DifferentialTarget: FuzzTarget {
    let name = "differential"
    let meaning = "any frame: the message or the error that the independent decoder in Protocol/reference names"
    let contextByteCount = FrameInput.contextByteCount + AnchorBytes.count
    let maximumByteCount = FrameInput.contextByteCount + AnchorBytes.count + 280
    /// A pipe to an interpreter is slow.
    let share = 20
    private let root: String
    /// Started at its first use.
    private var decoder: ReferenceDecoder?

    /// - Parameter root: the checkout.
    init(root: String) { self.root = root }

    func seeds(from vector: SeedVector) -> [[UInt8]] {
        guard let bare = vector.bare, bare.count >= 3 else { return [] }
        let anchor = vector.anchor ?? Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        return [FrameInput.context(reference: vector.reference) + AnchorBytes.bytes(of: anchor) + bare.dropLast(3)]
    }

    func run(_ input: Span<UInt8>) -> Outcome {
        let frame = AnyFrameInput(input)
        let reading = frame.read()
        let answer: String
        do {
            let decoder = try self.decoder ?? ReferenceDecoder(root: root)
            self.decoder = decoder
            answer = try decoder.decode(frame)
        } catch {
            return .wrong("the independent decoder gave no answer: \(error)")
        }
        switch reading {
        case .success(let message):
            var fields = message.referenceFields
            // The reference decoder prints no `type` for messages of the types 1, 5, 9, 16 and 17.
            let typeCode = frame.bytes[0] % 32
            if ![1, 5, 9, 16, 17].contains(typeCode) { fields["type"] = ReferenceText(typeCode) }
            let text = ReferenceText.fields(fields).description
            return text == answer
                ? .accepted : .wrong("accepted as another message than by the reference: \(text), reference \(answer)")
        case .failure(let error):
            guard error.referenceLines.contains(answer) else {
                let type = frame.bytes[0] % 32
                return .wrong(
                    "refused \(words(error.referenceLines[0])), by the reference \(words(answer)): type \(type)")
            }
            switch error {
            case .truncated, .trailingBytes, .nonzeroPadding, .invalidField: return .behindCRC
            default: return .refused
            }
        }
    }

    func describe(_ input: [UInt8]) -> InputDescription {
        let frame = AnyFrameInput(input.span)
        var description = InputDescription()
        description.bare = frame.bytes
        description.reference = frame.reference
        description.anchor = frame.anchor
        description.log = .fuzzed
        return description
    }

    /// The names in an error that the reference prints.
    private func words(_ line: String) -> String {
        guard line.hasPrefix("{\"error\"") else { return "accepted" }
        return "as " + line.split(separator: "\"").enumerated().filter { $0.offset % 4 == 3 }.map { String($0.element) }
            .joined(separator: " ")
    }
}
