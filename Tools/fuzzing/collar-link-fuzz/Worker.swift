import Foundation
import FuzzCore

/// Runs inputs in a separate process, so that an input that ends this process ends nothing else.
struct Worker {
    let seedFolder: SeedFolder
    let record: SharedRecord

    /// Exit code of a process that found something and said so in the record.
    static let foundSomething: Int32 = 3

    /// After this many seconds without progress the system ends the process, in case its parent is gone.
    private static let longestSilence: UInt32 = 100

    /// Runs executions from `first` on.
    /// - Returns: the exit code.
    func fuzz(_ target: any FuzzTarget, seed: UInt64, first: UInt64, limit: Limit) throws -> Int32 {
        var mutator = Mutator(target, seeds: try seedFolder.seeds(for: target), seed: seed)
        let runner = TargetRunner(target, record: record, first: first)
        let parent = getppid()
        alarm(Worker.longestSilence)
        var execution = first
        while true {
            switch limit {
            case .executions(let count): if execution >= count { return finish(runner) }
            case .seconds(let seconds):
                if execution % 32 == 0, runner.elapsed >= .seconds(seconds) { return finish(runner) }
            }
            // If the parent is gone, nobody reads the record.
            if execution % 1024 == 0 {
                if getppid() != parent { return finish(runner) }
                alarm(Worker.longestSilence)
            }
            mutator.make(execution)
            guard runner.run(mutator.input.span) else { return Worker.foundSomething }
            execution += 1
        }
    }

    /// Runs the input of a file once.
    func replay(_ target: any FuzzTarget, input: [UInt8]) throws -> Int32 {
        alarm(Worker.longestSilence)
        // Some targets learn from the seeds which inputs are canonical.
        _ = try seedFolder.seeds(for: target)
        let runner = TargetRunner(target, record: record, first: 0)
        guard runner.run(input.span) else { return Worker.foundSomething }
        return finish(runner)
    }

    private func finish(_ runner: TargetRunner) -> Int32 {
        runner.finish()
        return 0
    }
}
