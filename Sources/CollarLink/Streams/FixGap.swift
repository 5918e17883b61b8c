import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials

/// A range of fixes and messages of a collar's log that are not stored, and what becomes of them.
public struct FixGap: Equatable, Sendable {
    /// The state of a range.
    public enum State: String, Sendable {
        /// Later entries are stored and these are not. The collar is asked for them.
        case missing
        /// All of them have come.
        case filled
        /// The collar no longer has them.
        case lost
        /// Another receiver of the collar has them.
        case elsewhere
    }

    /// The state of the range now.
    public let state: State
    /// The sequences, as in `LocationFix.sequence`.
    public let sequences: ClosedRange<Int>
    /// When it became known, by the clock of this machine.
    public let date: Date
    /// The id of the collar, 16 hexadecimal digits.
    public let collarID: String

    init(_ change: GapChange, of deviceID: DeviceID) {
        state =
            switch change.event {
            case .missing: .missing
            case .filled: .filled
            case .lost: .lost
            case .elsewhere: .elsewhere
            }
        sequences = Int(change.range.first)...Int(change.range.last)
        date = Date(unixMilliseconds: change.unixMilliseconds)
        collarID = deviceID.description
    }
}
