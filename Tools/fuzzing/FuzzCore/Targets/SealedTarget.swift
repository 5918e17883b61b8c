import CollarWire

/// Forges sealed frames, one in each execution, and checks that none of them opens. One frame in 256 is first opened as
/// it was sealed.
///
/// An input holds the number of the stock of sealed frames (4 bytes) and the seed of the forgery (8 bytes).
public final class SealedTarget: FuzzTarget {
    public let name = "sealed"
    public let meaning = "forged sealed frames: none opens; one in 256 is first opened as it was sealed (decoded)"
    public let contextByteCount = 12
    public let maximumByteCount = 12
    /// This target covers many types.
    public let share = 300
    /// This many forgeries in a row are made of the same sealed frames.
    private static let stockUse: UInt64 = 1 &<< 20
    private let stock = SealedStock()
    private var opener = SealedOpener()
    private var buffer: [UInt8] = []

    /// Creates the target.
    public init() { buffer.reserveCapacity(FrameBuffer.capacity) }

    public func seeds(from vector: SeedVector) -> [[UInt8]] {
        vector.bare.flatMap { $0.count < contextByteCount ? nil : [Array($0.prefix(contextByteCount))] } ?? []
    }

    public func makeInput(_ execution: UInt64, seed: UInt64, into input: inout [UInt8]) -> Bool {
        var stock = SplitMix(seed: seed &+ execution / SealedTarget.stockUse)
        var forgery = SplitMix(seed: ~seed &+ execution &* 0xD134_2543_DE82_EF95)
        for _ in 0..<4 { input.append(stock.byte()) }
        for _ in 0..<8 { input.append(forgery.byte()) }
        return true
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        var (frame, random) = frame(of: input)
        defer { buffer = frame.bytes }
        let isOpenedFirst = random.oneIn(256)
        if isOpenedFirst {
            guard opener.open(frame.bytes.span, as: frame.presentation, type: nil) == .open,
                opener.clear == frame.sample.clear, opener.number.map({ $0 == frame.presentation.number }) ?? true
            else { return .wrong("a frame that is not forged does not open to what was sealed: \(frame.words)") }
        }
        frame.forge(&random)
        let result = opener.open(frame.bytes.span, as: frame.presentation, type: frame.type)
        if result == .open {
            return .wrong("a forged frame opens, with \(frame.forgery?.name ?? "nothing else"): \(frame.words)")
        }
        guard opener.clear.isEmpty else {
            return .wrong("a frame that does not open leaves its content behind: \(frame.words)")
        }
        if isOpenedFirst { return .accepted }
        return result == .notOpened ? .behindCRC : .refused
    }

    public func describe(_ input: [UInt8]) -> InputDescription {
        var (frame, random) = frame(of: input.span)
        // The draw that tells whether the frame is first opened as it was sealed.
        _ = random.oneIn(256)
        frame.forge(&random)
        var description = InputDescription()
        description.bare = frame.bytes
        description.log = frame.presentation.log
        if case .anchor(let anchor) = frame.presentation.binding { description.anchor = anchor }
        return description
    }

    /// The frame of an input, not forged yet, and the random numbers for the forgery.
    private func frame(of input: Span<UInt8>) -> (ForgedFrame, SplitMix) {
        var random = SplitMix(seed: (4..<12).reduce(0) { $0 &<< 8 | UInt64(input[$1]) })
        stock.select((0..<4).reduce(0) { $0 &<< 8 | UInt32(input[$1]) })
        let place = random.below(SealedStock.collarCount)
        let slot = random.below(SealedStock.slotCount)
        let (otherPlace, otherSlot) = other(place, slot, &random)
        var memory: [UInt8] = []
        swap(&memory, &buffer)
        let frame = ForgedFrame(
            stock.sample(collar: place, slot: slot), other: stock.sample(collar: otherPlace, slot: otherSlot),
            collar: stock.collar(place), buffer: memory)
        return (frame, random)
    }

    /// Another frame: of the same collar and type, of the same collar, or of the same type.
    private func other(_ place: Int, _ slot: Int, _ random: inout SplitMix) -> (Int, Int) {
        let typeCount = SealedTypes.all.count
        switch random.below(4) {
        case 0, 1: return (place, (slot + typeCount * (1 + random.below(3))) % SealedStock.slotCount)
        case 2: return (place, random.index(below: SealedStock.slotCount, otherThan: slot))
        default: return (random.index(below: SealedStock.collarCount, otherThan: place), slot)
        }
    }
}
