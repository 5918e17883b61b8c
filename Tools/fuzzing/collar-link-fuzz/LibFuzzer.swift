import Foundation
import FuzzCore

/// The program in which libFuzzer drives the targets.
struct LibFuzzer {
    let program: String
    let recordPath: String
    let seedFolder: SeedFolder
    /// The folder in which libFuzzer keeps the inputs that it learns, with a folder for each target.
    let corpus: String

    func process(
        for target: any FuzzTarget, limit: Limit, options: Options, record: SharedRecord, folder: String
    ) throws -> WatchedProcess {
        let learned = "\(corpus)/\(target.name)"
        let seeds = "\(folder)/seeds-\(target.name)"
        for path in [learned, seeds] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        for (index, seed) in try seedFolder.seeds(for: target).enumerated() {
            try Data(seed.prefix(target.maximumByteCount)).write(to: URL(fileURLWithPath: "\(seeds)/\(index)"))
        }
        let bound =
            switch limit {
            case .executions(let count): "-runs=\(count)"
            case .seconds(let seconds): "-max_total_time=\(max(1, Int(seconds)))"
            }
        // The seed of libFuzzer has 32 bits, and 0 means a random seed.
        let seed = options.seed % 0xFFFF_FFFF + 1
        return WatchedProcess(
            executable: program,
            arguments: [
                learned, seeds, bound, "-seed=\(seed)", "-max_len=\(target.maximumByteCount)", "-timeout=10",
                "-artifact_prefix=\(folder)/", "-reload=0",
            ],
            environment: [
                "COLLAR_LINK_FUZZ_TARGET": target.name, "COLLAR_LINK_FUZZ_RECORD": recordPath,
                // Memory that the Swift runtime keeps for ever is no leak.
                "ASAN_OPTIONS": "detect_leaks=0",
            ],
            record: record, folder: folder)
    }
}
