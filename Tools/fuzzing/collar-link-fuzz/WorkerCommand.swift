import Foundation
import FuzzCore

/// The command of a process that another process watches:
///
///     worker RECORD TARGET SEED FIRST executions|seconds N [CORPUS]
///     replay RECORD FILE [TARGET]
///     describe RECORD TARGET INPUT FOLDER PROBLEM [SEED EXECUTION]
struct WorkerCommand {
    private let arguments: [String]

    /// The first words of command lines that are for a worker.
    static let names = ["worker", "replay", "describe"]

    init(_ arguments: [String]) { self.arguments = arguments }

    func run() throws -> Int32 {
        guard arguments.count >= 3 else { throw Options.Wrong(reason: "too few arguments") }
        let record = try SharedRecord(path: arguments[1])
        if arguments[0] == "replay" {
            let worker = worker(record, corpus: nil)
            let (target, input) = try FuzzCommand.input(of: arguments[2], target: arguments.dropFirst(3).first)
            return try worker.replay(target, input: input)
        }
        if arguments[0] == "describe" { return try describe(record) }
        guard arguments.count >= 7, let seed = UInt64(arguments[3]), let first = UInt64(arguments[4]),
            let amount = Double(arguments[6])
        else { throw Options.Wrong(reason: "wrong arguments") }
        let limit = arguments[5] == "seconds" ? Limit.seconds(amount) : .executions(UInt64(amount))
        let target = try Surroundings.target(named: arguments[2])
        return try worker(record, corpus: arguments.dropFirst(7).first)
            .fuzz(target, seed: seed, first: first, limit: limit)
    }

    private func describe(_ record: SharedRecord) throws -> Int32 {
        guard arguments.count >= 6, let input = Hexadecimal.bytes(of: arguments[3]) else {
            throw Options.Wrong(reason: "wrong arguments")
        }
        let target = try Surroundings.target(named: arguments[2])
        // The process is noted as begun, so that a hang is noticed.
        record.begin(0, input: input.span)
        var execution: (UInt64, UInt64)?
        if arguments.count == 8, let seed = UInt64(arguments[6]), let number = UInt64(arguments[7]) {
            execution = (seed, number)
        }
        let finding = Finding(
            target: target.name, problem: arguments[5], input: input, execution: execution,
            description: target.describe(input))
        try finding.write(into: arguments[4])
        return 0
    }

    private func worker(_ record: SharedRecord, corpus: String?) -> Worker {
        Worker(seedFolder: SeedFolder(root: Surroundings.root, corpus: corpus), record: record)
    }
}
