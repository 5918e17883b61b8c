import CollarWire

/// Sealed frames of some collars. A frame is sealed when it is used first, and forged many times.
///
/// The number of a stock determines all its frames.
final class SealedStock {
    static let collarCount = 32
    /// Frames of a collar: four of each type.
    static let slotCount = 4 * SealedTypes.all.count

    private var number: UInt32 = 0
    private var collars = [FuzzedCollar?](repeating: nil, count: collarCount)
    private var samples = [SealedSample?](repeating: nil, count: collarCount * slotCount)

    /// Turns to the stock with this number.
    func select(_ number: UInt32) {
        guard number != self.number else { return }
        self.number = number
        for index in collars.indices { collars[index] = nil }
        for index in samples.indices { samples[index] = nil }
    }

    /// A collar.
    func collar(_ place: Int) -> FuzzedCollar {
        if let collar = collars[place] { return collar }
        var random = random(for: place * (SealedStock.slotCount + 1))
        let collar = FuzzedCollar(place: place, random: &random)
        collars[place] = collar
        return collar
    }

    /// The frame of a collar in a slot. The slot determines its type.
    func sample(collar place: Int, slot: Int) -> SealedSample {
        let index = place * SealedStock.slotCount + slot
        if let sample = samples[index] { return sample }
        let collar = collar(place)
        var random = random(for: place * (SealedStock.slotCount + 1) + 1 + slot)
        let sample = SealedSample(
            SealedTypes.all[slot % SealedTypes.all.count], of: collar, number: collar.number(ofSlot: slot),
            random: &random)
        samples[index] = sample
        return sample
    }

    private func random(for index: Int) -> SplitMix {
        var mixer = SplitMix(seed: UInt64(number) &<< 32 | UInt64(index))
        return SplitMix(seed: mixer.next())
    }
}
