import Foundation
import FuzzCore

/// Fuzzes one target: starts processes for it, one after the other, and keeps what they find.
struct Supervisor {
    let target: any FuzzTarget
    let options: Options
    let engine: Engine
    let record: SharedRecord
    /// A folder for what processes leave.
    let folder: String

    /// What runs the inputs.
    enum Engine {
        /// This program again.
        case mutation(program: String, recordPath: String)
        case libFuzzer(LibFuzzer)
    }

    /// What came of a target.
    struct Report {
        var executions: UInt64 = 0
        var behindCheck: UInt64 = 0
        var accepted: UInt64 = 0
        var seconds = 0.0
        var findings: [Finding] = []
    }

    /// A process could not do its work; what it said.
    struct Unable: Error, CustomStringConvertible {
        let description: String
    }

    /// What findings of one target may cost together, also those of one kind; then the rest of it is left out.
    private static let budget = 100
    /// What it costs when an input ends the process, or has to be ended, which takes its time. Others cost 1.
    private static let costOfCrash = 10

    func run(limit: Limit, found: (Finding) throws -> Void) throws -> Report {
        var report = Report()
        var kinds: Set<String> = []
        var budget = Supervisor.budget
        while budget > 0, let rest = rest(of: limit, after: report) {
            let first = report.executions
            let end = try process(first: first, limit: rest).run()
            if case .unable(let words) = end { throw Unable(description: "\(target.name): \(words)") }
            report.behindCheck += record.behindCheck
            report.accepted += record.accepted
            report.seconds += Double(record.nanoseconds) / 1e9
            guard case .found(let problem) = end else {
                report.executions = record.execution
                break
            }
            report.executions = record.execution + 1
            budget -= record.message.isEmpty ? Supervisor.costOfCrash : 1
            // What stands before a colon names the kind.
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

    /// What is left of a limit; nil for nothing.
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
