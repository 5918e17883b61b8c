import CheckedNumbers
import Glibc

// `collar-link-borders list` prints the borders, and how many runs each has by default. `… run BORDER RUNS SEED FILE` puts every extreme into
// every number, and then makes RUNS random runs; RUNS 0 makes none. The input of each run is in FILE before the run, so that it is
// there when the run ends the process. `… again BORDER FILE` repeats that run.

/// Runs of a border if nothing else is asked for, by whether a run takes milliseconds.
let (slowCount, fastCount) = (100_000, 1_100_000)

/// The file that holds the input of the present run.
struct InputFile {
    private let descriptor: Int32

    init?(path: String) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    /// Each part after the count of its bytes, and the count of all bytes at first.
    func write(_ input: Input) {
        var bytes: [UInt8] = []
        for part in input { bytes += InputFile.count(part.count) + part }
        bytes = InputFile.count(bytes.count) + bytes
        _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    func read() -> Input {
        func bytes(_ count: Int, at offset: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let done = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, off_t(offset)) }
            return Array(bytes.prefix(max(0, done)))
        }
        func number(at offset: Int) -> Int { bytes(4, at: offset).reduce(0) { $0 << 8 | Int($1) } }
        var input: Input = []
        var offset = 4
        let end = 4 + number(at: 0)
        while offset < end {
            let count = number(at: offset)
            input.append(bytes(count, at: offset + 4))
            offset += 4 + count
        }
        return input
    }

    private static func count(_ count: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } }
}

func border(named name: String) -> (any Border)? { allBorders().first { $0.name == name } }

func main() -> Int32 {
    let words = CommandLine.arguments.dropFirst().map { $0 }
    switch (words.first, words.count) {
    case ("list", 1):
        for border in allBorders() { print(border.name, border.isSlow ? slowCount : fastCount) }
        return 0
    case ("run", 5):
        guard var border = border(named: words[1]), let count = UInt64(words[2], in: 0 ... .max), let seed = UInt64(words[3], in: 0 ... .max),
            let file = InputFile(path: words[4])
        else { return 64 }
        let mutation = Mutation(border)
        var extremes = 0
        mutation.forEachExtreme { input in
            file.write(input)
            border.run(input)
            extremes += 1
        }
        for run in 0..<count {
            let input = mutation.input(of: run, seed: seed)
            file.write(input)
            border.run(input)
        }
        print("\(border.name): \(extremes) extremes, \(count) random runs")
        // A border without numbers would prove nothing.
        return extremes > border.seeds.count ? 0 : 1
    case ("again", 3):
        guard var border = border(named: words[1]), let file = InputFile(path: words[2]) else { return 64 }
        let input = file.read()
        for part in input { print(part.allSatisfy { (10...126).contains($0) } ? String(decoding: part, as: UTF8.self) : "\(part)") }
        border.run(input)
        return 0
    default: return 64
    }
}

exit(main())
