import Foundation
import FuzzCore

/// Carries out a command line of Tools/fuzz.
struct FuzzCommand {
    let options: Options

    /// - Returns: whether anything was found.
    func run() throws -> Bool {
        switch options.action {
        case .help:
            print(Options.usage)
            return false
        case .list:
            for target in Surroundings.targets { print(Table.pad(target.name, 20) + target.meaning) }
            return false
        case .shortTags:
            // Enough for some identities to open, which need 18 right bits.
            return ShortTagCount(tries: options.executions ?? 12_000_000, seed: options.seed).run()
        case .replay(let file): return try inScratchFolder { try replay(file, $0) }
        case .fuzz: return try inScratchFolder(fuzz)
        }
    }

    /// The target and the input of a finding, or the given target and the input that it makes of a vector.
    static func input(of file: String, target name: String?) throws -> (any FuzzTarget, [UInt8]) {
        let vector = try VectorFile(path: file)
        guard let name = name ?? vector.target else {
            throw Options.Wrong(reason: "\(file) names no target: name one")
        }
        let target = try Surroundings.target(named: name)
        let given = vector.input.flatMap(Hexadecimal.bytes(of:))
        let input = given ?? vector.seedVectors.flatMap { target.seeds(from: $0) }.first
        guard let input, input.count >= target.contextByteCount else {
            throw Options.Wrong(reason: "\(file) holds nothing for the target \(name)")
        }
        return (target, input)
    }

    private func fuzz(_ folder: String) throws -> Bool {
        let recordPath = "\(folder)/record"
        let record = try SharedRecord(path: recordPath)
        let engine = try engine(recordPath)
        let targets = try chosenTargets()
        let table = Table()
        var wasFound = false
        for target in targets {
            let supervisor = Supervisor(
                target: target, options: options, engine: engine, record: record, folder: folder)
            let report = try supervisor.run(limit: limit(of: target, among: targets)) { finding in
                wasFound = true
                try finding.write(into: findingsFolder)
                try describe(finding, record, folder)
                let folder = options.findings ?? FuzzCommand.usualFindingsFolder
                table.show(finding, at: "\(folder)/\(finding.fileName)")
            }
            table.add(target, report)
        }
        table.end()
        return wasFound
    }

    /// Lets another process write the file of a finding again, with a description of the input. If that process crashes, the
    /// file stays as it is.
    private func describe(_ finding: Finding, _ record: SharedRecord, _ folder: String) throws {
        var arguments = ["describe", "\(folder)/record", finding.target, Hexadecimal.text(of: finding.input)]
        arguments += [findingsFolder, finding.problem]
        if let (seed, number) = finding.execution { arguments += ["\(seed)", "\(number)"] }
        let process = WatchedProcess(
            executable: try FuzzCommand.ownPath(), arguments: arguments, environment: [:], record: record,
            folder: folder)
        _ = try process.run()
    }

    private func replay(_ file: String, _ folder: String) throws -> Bool {
        // A finding names the command that repeats it, as a user types it in the checkout.
        let places = [file, "\(Surroundings.root)/\(file)", "\(findingsFolder)/\(file)"]
        let path = places.first { FileManager.default.fileExists(atPath: $0) } ?? file
        _ = try FuzzCommand.input(of: path, target: options.targets.first)
        let record = try SharedRecord(path: "\(folder)/record")
        let process = WatchedProcess(
            executable: try FuzzCommand.ownPath(),
            arguments: ["replay", "\(folder)/record", path] + options.targets.prefix(1), environment: [:],
            record: record, folder: folder)
        switch try process.run() {
        case .finished:
            print("nothing found: \(path)")
            return false
        case .found(let problem):
            print("found again: \(problem)")
            return true
        case .unable(let words): throw Supervisor.Unable(description: words)
        }
    }

    private func engine(_ recordPath: String) throws -> Supervisor.Engine {
        guard options.usesLibFuzzer else {
            return .mutation(program: try FuzzCommand.ownPath(), recordPath: recordPath)
        }
        guard let program = ProcessInfo.processInfo.environment["COLLAR_LINK_LIBFUZZER"] else {
            throw Options.Wrong(reason: "--libfuzzer works by Tools/fuzz, which builds what it needs")
        }
        let folder = SeedFolder(root: Surroundings.root, corpus: options.corpus)
        return .libFuzzer(
            LibFuzzer(
                program: program, recordPath: recordPath, seedFolder: folder,
                corpus: options.corpus ?? "\(Surroundings.root)/.build-simulation/corpus"))
    }

    private func chosenTargets() throws -> [any FuzzTarget] {
        if !options.targets.isEmpty { return try options.targets.map(Surroundings.target(named:)) }
        // libFuzzer cannot see the coverage of the independent decoder, which is another process.
        return options.usesLibFuzzer ? portableTargets() : Surroundings.targets
    }

    /// The limit of a target: an equal part of the time, or a part of the executions according to its share.
    private func limit(of target: any FuzzTarget, among targets: [any FuzzTarget]) -> Limit {
        guard let executions = options.executions else {
            return .seconds((options.seconds ?? 60) / Double(targets.count))
        }
        let shares = targets.reduce(0) { $0 + $1.share }
        return .executions(max(1, executions * UInt64(target.share) / UInt64(shares)))
    }

    private static let usualFindingsFolder = ".fuzz-findings"

    private var findingsFolder: String {
        options.findings ?? "\(Surroundings.root)/\(FuzzCommand.usualFindingsFolder)"
    }

    private static func ownPath() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    private func inScratchFolder<Result>(_ work: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("collar-link-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try work(folder.path)
    }
}
