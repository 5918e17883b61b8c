import CollarWire

/// Counts the frames with random tags that open. With whole tags none opens; with shortened tags a known part of them
/// does.
public final class RandomTags {
    /// Frames whose tags have the same size and are checked in the same way.
    public enum Kind: CaseIterable, Sendable {
        case collar, identity, host

        /// The frames, and the size of their tags.
        public var name: String {
            switch self {
            case .collar: "collar, 6 bytes"
            case .identity: "identity, 8 bytes"
            case .host: "host, 8 bytes"
            }
        }

        /// How many bits a forger must guess if `bits` of a tag are compared. The tag of an identity also hides six
        /// bits that must be 0.
        public func guessedBits(ofTag bits: Int) -> Int { self == .identity ? bits + 6 : bits }

        fileprivate var types: [MessageType] {
            SealedTypes.all.filter {
                switch self {
                case .collar: $0.isFromCollar && $0 != .identity
                case .identity: $0 == .identity
                case .host: !$0.isFromCollar
                }
            }
        }
    }

    /// This many tries in a row are made of the same sealed frames.
    private static let stockUse: UInt64 = 1 &<< 20
    private let stock = SealedStock()
    private var opener = SealedOpener()
    private var random: SplitMix
    private var bytes: [UInt8] = []

    /// - Parameter seed: determines all frames.
    public init(seed: UInt64) {
        random = SplitMix(seed: seed)
        bytes.reserveCapacity(FrameBuffer.capacity)
    }

    /// Tries frames of a kind.
    /// - Returns: how many of them opened.
    public func countOpened(of kind: Kind, tries: UInt64) -> UInt64 {
        let slots = SealedTypes.all.indices.filter { kind.types.contains(SealedTypes.all[$0]) }
        var opened: UInt64 = 0
        for number in 0..<tries {
            if number % RandomTags.stockUse == 0 { stock.select(UInt32(truncatingIfNeeded: random.next())) }
            let slot = slots[random.below(slots.count)] + SealedTypes.all.count * random.below(4)
            let sample = stock.sample(collar: random.below(SealedStock.collarCount), slot: slot)
            forge(sample)
            if opener.open(bytes.span, as: sample.presentation, type: nil) == .open { opened += 1 }
        }
        return opened
    }

    /// Makes the bytes of a frame with a random tag.
    private func forge(_ sample: SealedSample) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: sample.bytes)
        var start = bytes.count - SealedTypes.tagByteCount(sample.type)
        // A fix must be one after it is decrypted. Other frames open with any content.
        if sample.type != .absoluteFix, sample.type != .liveFix {
            bytes[2] = random.byte()
            start = SealedTypes.cipherStart(sample.type, flags: bytes[1]) ?? start
        }
        for index in start..<bytes.count { bytes[index] = random.byte() }
    }
}
