import CollarWire

/// Decodes any bytes on a serial line, in any pieces.
public final class StreamTarget: FuzzTarget {
    public let name = "stream"
    public let meaning = "any bytes on a serial line, in any pieces: the events of a plain model, and progress always"
    /// The context is the seed of the lengths of the pieces; seed 0 means single bytes.
    public let contextByteCount = 8
    public let maximumByteCount = 8 + 1400
    /// This target covers more than one type.
    public let share = 300
    private var model = StreamModel()

    /// Creates the target.
    public init() {}

    public func seeds(from vector: SeedVector) -> [[UInt8]] {
        vector.serial.map { [[UInt8](repeating: 0, count: 8) + $0.prefix(1400)] } ?? []
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        let bytes = input.extracting(8..<input.count)
        let expected = model.read(bytes)
        var whole = Feed()
        whole.feed(bytes, endingAt: bytes.count)
        if let fault = whole.fault { return .wrong(fault) }
        guard whole.events == expected else {
            return .wrong("the events are not those of the model: \(whole.events) for \(expected)")
        }
        var cutter = PieceCutter(input)
        var inPieces = Feed()
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + cutter.next())
            inPieces.feed(bytes.extracting(start..<end), endingAt: end)
            start = end
        }
        if let fault = inPieces.fault { return .wrong(fault) }
        guard inPieces.events == expected else {
            return .wrong("in pieces the events differ: \(inPieces.events) for \(expected)")
        }
        if whole.hasMessage { return .accepted }
        return whole.events.frameCount > 0 ? .behindCRC : .refused
    }

    public func describe(_ input: [UInt8]) -> InputDescription {
        var description = InputDescription()
        description.serial = Array(input.dropFirst(8))
        var cutter = PieceCutter(input.span)
        var left = input.count - 8
        var pieces: [Int] = []
        while left > 0 {
            pieces.append(min(left, cutter.next()))
            left -= pieces.last ?? left
        }
        description.pieces = pieces
        return description
    }
}

/// The lengths of the pieces. The first eight bytes of an input are their seed.
private struct PieceCutter {
    private var random: SplitMix
    private let isBytewise: Bool

    init(_ input: Span<UInt8>) {
        let seed = (0..<8).reduce(UInt64(0)) { $0 &<< 8 | UInt64(input[$1]) }
        random = SplitMix(seed: seed)
        isBytewise = seed == 0
    }

    /// The length of the next piece, at least 1.
    mutating func next() -> Int {
        if isBytewise { return 1 }
        // Short pieces, and pieces that hold several frames.
        let largest = [1, 4, 12, 60, 300, 1000] as InlineArray<6, Int>
        return 1 + random.below(largest[random.below(6)])
    }
}

/// A decoder, and its results.
private struct Feed {
    private(set) var events = StreamEvents()
    /// Whether a frame held a message.
    private(set) var hasMessage = false
    /// A violation of the decoder; nil if there is none.
    private(set) var fault: String?
    private var decoder = StreamDecoder()

    /// The next event. A fix of the most common form is decoded by the fast path, which must give the result of the general
    /// decoder.
    private mutating func next(in piece: Span<UInt8>, at index: inout Int) -> StreamDecoder.Event? {
        var fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        guard decoder.nextFix(in: piece, at: &index, log: .fuzzed, reference: 0, into: &fix) else {
            return decoder.next(in: piece, at: &index)
        }
        do throws(DecodeError) {
            let other = try Message.decode(decoder.frame, log: .fuzzed, reference: 0)
            if other != .fix(fix) { fault = "two ways to read a fix: \(fix) and \(other)" }
        } catch { fault = "a fix that cannot be decoded: \(error)" }
        return .frame
    }

    /// Feeds a piece that ends at `end` of the stream.
    mutating func feed(_ piece: Span<UInt8>, endingAt end: Int) {
        var index = 0
        var before = 0
        while let event = next(in: piece, at: &index) {
            guard index > before, index <= piece.count else {
                fault = "no progress: from \(before) to \(index) of \(piece.count)"
                return
            }
            before = index
            let position = end - piece.count + index
            switch event {
            case .rejected(let fault): events.add(fault, at: position)
            case .frame:
                events.add(decoder.frame, at: position)
                if case .success = FrameReading.read(decoder.frame, reference: 0) { hasMessage = true }
            }
        }
        if index != piece.count { fault = "stopped at \(index) of \(piece.count)" }
    }
}
