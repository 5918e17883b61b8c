import Foundation
import FuzzCore

/// Fuzzes one target: starts processes for it, one after the other, and keeps what they find.
struct Supervisor {
    let target: any FuzzTarget
    let options: Options
    let engine: Engine
    let record: SharedRecord
    /// A folder for files of the processes.
    let folder: String

    /// The program that runs the inputs.
    enum Engine {
        /// This program, as a worker.
        case mutation(program: String, recordPath: String)
        case libFuzzer(LibFuzzer)
    }

    /// The results of a target.
    struct Report {
        var executions: UInt64 = 0
        var behindCRC: UInt64 = 0
        var accepted: UInt64 = 0
        var seconds = 0.0
        var findings: [Finding] = []
    }

    /// A process could not do its work; the description has its messages.
    struct Unable: Error, CustomStringConvertible {
        let description: String
    }

    /// The most that all findings of a target may cost, also those of one kind. Then the target is not run any further.
    private static let budget = 100
    /// The cost of an input with which the process crashes or hangs, which takes time. Other findings cost 1.
    private static let costOfCrash = 10

    func run(limit: Limit, found: (Finding) throws -> Void) throws -> Report {
        var report = Report()
        var kinds: Set<String> = []
        var budget = Supervisor.budget
        while budget > 0, let rest = rest(of: limit, after: report) {
            let first = report.executions
            let end = try process(first: first, limit: rest).run()
            if case .unable(let words) = end { throw Unable(description: "\(target.name): \(words)") }
            report.behindCRC += record.behindCRC
            report.accepted += record.accepted
            report.seconds += Double(record.nanoseconds) / 1e9
            guard case .found(let problem) = end else {
                report.executions = record.execution
                break
            }
            report.executions = record.execution + 1
            budget -= record.message.isEmpty ? Supervisor.costOfCrash : 1
            // The text before a colon names the kind of finding.
            if kinds.insert("\(problem.prefix { $0 != ":" })").inserted {
                let finding = finding(problem)
                report.findings.append(finding)
                try found(finding)
            }
            if case .libFuzzer = engine { break }
        }
        return report
    }

    private func finding(_ problem: String) -> Finding {
        let input = record.input
        var execution: (UInt64, UInt64)?
        if case .mutation = engine { execution = (options.seed, record.execution) }
        return Finding(target: target.name, problem: problem, input: input, execution: execution)
    }

    /// The rest of a limit; nil if nothing is left.
    private func rest(of limit: Limit, after report: Report) -> Limit? {
        switch limit {
        case .executions(let count): return report.executions < count ? limit : nil
        case .seconds(let seconds): return report.seconds < seconds ? .seconds(seconds - report.seconds) : nil
        }
    }

    private func process(first: UInt64, limit: Limit) throws -> WatchedProcess {
        switch engine {
        case .mutation(let program, let recordPath):
            var arguments = ["worker", recordPath, target.name, "\(options.seed)", "\(first)"]
            switch limit {
            case .executions(let count): arguments += ["executions", "\(count)"]
            case .seconds(let seconds): arguments += ["seconds", "\(seconds)"]
            }
            if let corpus = options.corpus { arguments.append(corpus) }
            return WatchedProcess(
                executable: program, arguments: arguments, environment: [:], record: record, folder: folder)
        case .libFuzzer(let libFuzzer):
            return try libFuzzer.process(for: target, limit: limit, options: options, record: record, folder: folder)
        }
    }
}
