/// Runs inputs on a target, and records the progress.
public final class TargetRunner {
    private let target: any FuzzTarget
    private let record: SharedRecord
    private let start = ContinuousClock.now
    private var execution: UInt64

    /// - Parameter first: the number of the first execution.
    public init(_ target: any FuzzTarget, record: SharedRecord, first: UInt64) {
        self.target = target
        self.record = record
        execution = first
        record.behindCRC = 0
        record.accepted = 0
        record.nanoseconds = 0
        record.message = ""
    }

    /// Time since the start.
    public var elapsed: Duration { ContinuousClock.now - start }

    /// Runs the next input.
    /// - Returns: false if there is a finding, which the record then holds.
    public func run(_ input: Span<UInt8>) -> Bool {
        record.begin(execution, input: input)
        switch target.run(input) {
        case .refused: break
        case .behindCRC: record.behindCRC += 1
        case .accepted:
            record.behindCRC += 1
            record.accepted += 1
        case .wrong(let message):
            record.message = message.isEmpty ? "wrong" : message
            noteTime()
            return false
        }
        execution += 1
        if execution % 64 == 0 { noteTime() }
        return true
    }

    /// Notes that all executions are over.
    public func finish() {
        record.execution = execution
        noteTime()
    }

    private func noteTime() {
        let (seconds, attoseconds) = elapsed.components
        record.nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
