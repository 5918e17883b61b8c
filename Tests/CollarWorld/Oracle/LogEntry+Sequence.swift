import CollarFirmware
import CollarWire

extension LogEntry {
    /// The entry as a log holds it: a fix has the sequence.
    func at(_ sequence: UInt32) -> LogEntry {
        guard case .fix(var fix) = self else { return self }
        fix.sequence = sequence
        return .fix(fix)
    }
}
