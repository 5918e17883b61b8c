import FuzzCore

/// Makes the input of each execution. An input depends only on the number of the execution, the random seed, the target and
/// the inputs with which the target begins.
struct Mutator {
    private let target: any FuzzTarget
    private let seeds: [[UInt8]]
    private let contextByteCount: Int
    private let maximumByteCount: Int
    private let startOfRandom: UInt64
    /// The input made last.
    private(set) var input: [UInt8] = []
    private var random = SplitMix(seed: 0)

    init(_ target: any FuzzTarget, seeds: [[UInt8]], seed: UInt64) {
        self.target = target
        contextByteCount = target.contextByteCount
        maximumByteCount = target.maximumByteCount
        // There must be at least one seed to start from.
        self.seeds = seeds.isEmpty ? [[UInt8](repeating: 0, count: target.contextByteCount) + [0x20, 0, 0, 0]] : seeds
        var name = Digest()
        for byte in target.name.utf8 { name.add(byte) }
        var mixer = SplitMix(seed: seed ^ name.value)
        startOfRandom = mixer.next()
        input.reserveCapacity(2 * SharedRecord.inputCapacity)
    }

    /// Makes the input of an execution. The first mutations are the seeds themselves.
    mutating func make(_ execution: UInt64) {
        input.removeAll(keepingCapacity: true)
        if target.makeInput(execution, seed: startOfRandom, into: &input) { return }
        if execution < UInt64(seeds.count) {
            input.append(contentsOf: seeds[Int(execution)])
            return trim()
        }
        random = SplitMix(seed: startOfRandom &+ execution &* 0xD134_2543_DE82_EF95)
        input.append(contentsOf: seeds[random.below(seeds.count)])
        if random.oneIn(2) { for index in 0..<contextByteCount { input[index] = random.byte() } }
        var changeCount = 1
        while changeCount < 12, !random.oneIn(3) { changeCount += 1 }
        for _ in 0..<changeCount { change() }
        trim()
    }

    private mutating func trim() {
        if input.count > maximumByteCount { input.removeLast(input.count - maximumByteCount) }
    }

    private var contentCount: Int { input.count - contextByteCount }

    /// A place in the content or right after it.
    private mutating func anyPlace() -> Int { contextByteCount + random.below(contentCount + 1) }

    private mutating func change() {
        guard contentCount > 0 else { return insert() }
        // The place is sometimes in the context.
        let place = random.oneIn(8) ? random.below(input.count) : contextByteCount + random.below(contentCount)
        switch random.below(14) {
        case 0, 1: input[place] ^= 1 &<< UInt8(random.below(8))
        case 2: input[place] = random.byte()
        case 3:
            let values = [0, 1, 0x7F, 0x80, 0xFE, 0xFF] as InlineArray<6, UInt8>
            input[place] = values[random.below(6)]
        case 4: input[place] &+= random.oneIn(2) ? 1 : 0xFF
        case 5: insert()
        case 6: remove(from: contextByteCount + random.below(contentCount))
        case 7: splice()
        case 8: copy()
        case 9, 10: writeBoundary()
        case 11: shiftBits()
        case 12: input.removeLast(random.below(contentCount) / (random.oneIn(4) ? 1 : 4))
        default: randomTail()
        }
    }

    private mutating func insert() {
        let value: UInt8? = random.oneIn(2) ? (random.oneIn(2) ? 0 : 0xFF) : nil
        let count = 1 + random.below(random.oneIn(10) ? 64 : 4)
        let place = anyPlace()
        for _ in 0..<count { input.insert(value ?? random.byte(), at: place) }
    }

    private mutating func remove(from place: Int) {
        input.removeSubrange(place..<min(input.count, place + 1 + random.below(8)))
    }

    /// Appends the end of another seed, sometimes in place of the input's own end.
    private mutating func splice() {
        let other = random.below(seeds.count)
        let count = seeds[other].count
        let start = contextByteCount + random.below(max(1, count - contextByteCount))
        if random.oneIn(2) {
            let place = anyPlace()
            input.removeLast(input.count - place)
        }
        if start < count { input.append(contentsOf: seeds[other][start..<count]) }
    }

    /// Copies a run of bytes to another place.
    private mutating func copy() {
        let source = contextByteCount + random.below(contentCount)
        let target = contextByteCount + random.below(contentCount)
        for offset in 0..<min(1 + random.below(16), input.count - max(source, target)) {
            input[target + offset] = input[source + offset]
        }
    }

    /// Takes some bits, at any place and of any width, as a number, and sets it to an extreme, a middle or a random value.
    private mutating func writeBoundary() {
        let width = 1 + random.below(32)
        let start = contextByteCount * 8 + random.below(contentCount * 8)
        let middle: UInt64 = 1 &<< UInt64(width - 1)
        let end = middle &<< 1
        let values = [0, 1, middle - 1, middle, middle + 1, end - 1, end - 2, random.next()] as InlineArray<8, UInt64>
        let value = values[random.below(8)]
        for offset in 0..<width where start + offset < input.count * 8 {
            setBit(start + offset, value &>> UInt64(width - 1 - offset) & 1 == 1)
        }
    }

    private mutating func setBit(_ bit: Int, _ isOne: Bool) {
        let mask: UInt8 = 0x80 &>> UInt8(bit % 8)
        input[bit / 8] = isOne ? input[bit / 8] | mask : input[bit / 8] & ~mask
    }

    /// Inserts or removes a bit, so that all following bits move.
    private mutating func shiftBits() {
        let place = contextByteCount + random.below(contentCount)
        if random.oneIn(2) {
            var carry: UInt8 = random.oneIn(2) ? 0x80 : 0
            for index in place..<input.count {
                let next = input[index] &<< 7
                input[index] = input[index] &>> 1 | carry
                carry = next
            }
        } else {
            for index in place..<input.count {
                input[index] = input[index] &<< 1 | (index + 1 < input.count ? input[index + 1] &>> 7 : 0)
            }
        }
    }

    /// Removes everything after a random place, and appends a random number of random bytes.
    private mutating func randomTail() {
        let place = min(input.count, contextByteCount + 4 + random.below(max(1, contentCount - 4)))
        input.removeLast(input.count - place)
        for _ in 0..<random.below(random.oneIn(16) ? 250 : 40) { input.append(random.byte()) }
    }
}
