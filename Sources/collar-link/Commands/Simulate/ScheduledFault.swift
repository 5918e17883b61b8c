import CheckedNumbers
import CollarARQ
import CollarErrors
import CollarReceiver
import CollarSimulator
import RadioModems

/// A fault of the simulated stick, and when it happens: `KIND@SECONDS`.
struct ScheduledFault: Equatable {
    let fault: StickFault
    /// When it happens, from the start of the simulation.
    let time: Instant

    /// Reads the values of `--stick-fault`.
    /// - Returns: the faults in the order of their times.
    static func parse(_ texts: [String], for dialect: Dialect) throws(CommandFailure) -> [ScheduledFault] {
        var faults: [ScheduledFault] = []
        for text in texts { faults.append(try ScheduledFault(text, for: dialect)) }
        return faults.sorted { $0.time < $1.time }
    }

    private init(_ text: String, for dialect: Dialect) throws(CommandFailure) {
        let names = StickFault.allCases.filter { $0.isPossible(in: dialect) }.map(\.rawValue)
        let kinds = names.joined(separator: ", ")
        let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.count == 2, let seconds = Double(parts[1], in: 0...1e6) else {
            throw CommandFailure(.usage, "--stick-fault \(text): expected KIND@SECONDS", remedy: "The kinds are \(kinds).")
        }
        guard let fault = StickFault(rawValue: parts[0]), fault.isPossible(in: dialect) else {
            throw CommandFailure(
                .usage, "--stick-fault \(text): a stick of the dialect \(dialect.rawValue) has no such fault"
                    + Suggestion.text(for: parts[0], among: names),
                remedy: "The kinds are \(kinds).")
        }
        self.fault = fault
        time = Instant(microseconds: Int64(seconds * 1e6))
    }
}
