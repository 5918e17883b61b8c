/// What a collar does that no sound one does. The host bounds what it costs, and goes on.
public enum Misbehaviour: Equatable, Sendable {
    /// A fix came again under its id with another content. The first one stays.
    case otherContent(sequence: UInt32)
    /// The sequences of a log jumped further than a collar makes fixes in half a year.
    case sequenceJump(from: UInt32, to: UInt32)
    /// A log has more gaps, or a collar more logs, than the journal keeps track of: what does not fit is not stored.
    case tooManyGaps
    /// The collar names more logs than are kept at hand; those with the fewest fixes are dropped.
    case tooManyLogs
    /// The collar asks over and over and brings nothing new: some asks are not answered.
    case tooManyAsks
    /// The collar tells of more losses than are reported one by one; all of them are stored.
    case tooManyLosses

    /// A name for programs, without its figures; what has one name is said once a minute.
    public var code: String {
        switch self {
        case .otherContent: "fix_changed"
        case .sequenceJump: "sequence_jumped"
        case .tooManyGaps: "too_many_gaps"
        case .tooManyLogs: "too_many_logs"
        case .tooManyAsks: "too_many_asks"
        case .tooManyLosses: "too_many_losses"
        }
    }
}

/// Why a collar that said who it is was not taken up.
public enum CollarRefusal: Hashable, Sendable {
    /// As many collars as a host takes up are known.
    case tooManyCollars(limit: Int)
    /// New collars come faster than a host takes them up; it takes this one up later.
    case tooManyAtOnce
}
