import CollarSimulator

/// Changes valid inputs: first every number to every extreme, then at random.
struct Mutation {
    /// Numbers at which arithmetic goes wrong, and texts that are almost numbers.
    static let texts: [[UInt8]] = {
        var texts = ["0", "-0", "-1", "1", "nan", "NaN", "inf", "1e400", "-1e400", "1e-400", "", "+1", "0x7f", "100000000000000000000"]
        for power in [7, 8, 15, 16, 31, 32, 47, 48, 53, 63, 64] {
            let number = Int128(1) << power
            for near in [number - 1, number, -number, -number - 1] { texts.append("\(near)") }
        }
        return texts.map { Array($0.utf8) }
    }()
    private static let words: [UInt64] = {
        var words: [UInt64] = [0, .max, 0x8000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF]
        for power in [7, 8, 15, 16, 31, 32, 47, 48, 53] { words += [1 << power, (1 << power) - 1] }
        return words
    }()

    private let seeds: [Input]
    private let border: any Border
    private let binaryByteCount: Int

    init(_ border: any Border) {
        seeds = border.seeds
        binaryByteCount = border.binaryByteCount
        self.border = border
    }

    /// Calls `body` with each number of each seed replaced by each extreme.
    func forEachExtreme(_ body: (Input) -> Void) {
        // Machines and captures have many lines in common.
        var seen: Set<[UInt8]> = []
        for seed in seeds {
            body(seed)
            for (index, part) in seed.enumerated() {
                var input = seed
                for field in Mutation.numbers(in: part) {
                    let before = Array(part[..<field.lowerBound].reversed().prefix { $0 != UInt8(ascii: "\n") }.reversed())
                    let after = part[field.lowerBound...].prefix { $0 != UInt8(ascii: "\n") }
                    guard border.isNumber(after: before), seen.insert(before + [0] + after).inserted else { continue }
                    for text in Mutation.texts {
                        input[index] = part[..<field.lowerBound] + text + part[field.upperBound...]
                        body(input)
                    }
                }
                guard binaryByteCount > 0, seen.insert(part).inserted else { continue }
                for place in part.indices.prefix(binaryByteCount) {
                    for width in [1, 2, 4, 8] where place + width <= min(part.count, binaryByteCount) {
                        for word in Mutation.words where width == 8 || word >> UInt64(8 * width) == 0 || word == .max {
                            input[index] = Mutation.replacing(part, at: place, width: width, by: word, isBigEndian: true)
                            body(input)
                            guard width > 1 else { continue }
                            input[index] = Mutation.replacing(part, at: place, width: width, by: word, isBigEndian: false)
                            body(input)
                        }
                    }
                }
            }
        }
    }

    /// The input of a random run. It depends on the seed and the number of the run alone.
    func input(of run: UInt64, seed: UInt64) -> Input {
        var random = SeededRandom(seed: seed &+ run &* 0xD134_2543_DE82_EF95)
        func below(_ count: Int) -> Int { count > 0 ? Int(random.next() % UInt64(count)) : 0 }
        var input = seeds[below(seeds.count)]
        for _ in 0...below(4) {
            let index = below(input.count)
            guard input.indices.contains(index) else { break }
            var part = input[index]
            let numbers = Mutation.numbers(in: part)
            switch below(10) {
            case 0: input.remove(at: index)
            case 1: input.insert(input[below(input.count)], at: index)
            case 2: input.swapAt(index, below(input.count))
            case 3 where !part.isEmpty: part[below(part.count)] = UInt8(truncatingIfNeeded: random.next())
            case 4 where !part.isEmpty: part.remove(at: below(part.count))
            case 5 where binaryByteCount > 0 && !part.isEmpty:
                let width = min([1, 2, 4, 8][below(4)], part.count)
                let word = below(2) == 0 ? Mutation.words[below(Mutation.words.count)] : random.next()
                part = Mutation.replacing(part, at: below(part.count - width + 1), width: width, by: word, isBigEndian: below(2) == 0)
            default:
                guard !numbers.isEmpty else { break }
                let field = numbers[below(numbers.count)]
                let digits = below(3) == 0 ? Array("\(Int64(bitPattern: random.next()) >> Int64(below(64)))".utf8) : Mutation.texts[below(Mutation.texts.count)]
                part.replaceSubrange(field, with: digits)
            }
            if input.indices.contains(index) { input[index] = part }
        }
        return input
    }

    /// Where numbers are in a text: digits, with a sign if one is before them. Digits behind a letter belong to a name.
    private static func numbers(in part: [UInt8]) -> [Range<Int>] {
        func isDigit(_ place: Int) -> Bool { part.indices.contains(place) && (0x30...0x39).contains(part[place]) }
        var found: [Range<Int>] = []
        var place = 0
        while place < part.count {
            guard isDigit(place) else {
                place += 1
                continue
            }
            var end = place
            while isDigit(end) { end += 1 }
            defer { place = end }
            if place > 0, (0x41...0x5A).contains(part[place - 1] & 0xDF) { continue }
            let isSigned = place > 0 && part[place - 1] == UInt8(ascii: "-") && !isDigit(place - 2)
            found.append((isSigned ? place - 1 : place)..<end)
        }
        return found
    }

    private static func replacing(_ part: [UInt8], at place: Int, width: Int, by word: UInt64, isBigEndian: Bool) -> [UInt8] {
        var part = part
        for byte in 0..<width {
            part[place + byte] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (isBigEndian ? width - 1 - byte : byte)))
        }
        return part
    }
}
