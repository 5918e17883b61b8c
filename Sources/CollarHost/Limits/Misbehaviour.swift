/// Behaviour that no sound collar shows. The host limits its cost and goes on.
package enum Misbehaviour: Equatable, Sendable {
    /// A fix came again with another content. The first content stays.
    case otherContent(sequence: UInt32)
    /// The sequences of a log jumped by more fixes than a collar makes in half a year.
    case sequenceJump(from: UInt32, to: UInt32)
    /// A log has more gaps, or a collar more logs, than the journal keeps track of. Anything beyond that is not stored.
    case tooManyGaps
    /// The collar names more logs than are kept in memory. The logs with the fewest fixes are dropped.
    case tooManyLogs
    /// The collar polls over and over and brings nothing new: some polls are not answered.
    case tooManyPolls
    /// The collar names more losses than are reported one by one. All of them are stored.
    case tooManyLosses

    /// A misbehaviour without its figures. Notices of one kind are given at most once a minute.
    enum Kind: Hashable, Sendable { case otherContent, sequenceJump, tooManyGaps, tooManyLogs, tooManyPolls, tooManyLosses }

    var kind: Kind {
        switch self {
        case .otherContent: .otherContent
        case .sequenceJump: .sequenceJump
        case .tooManyGaps: .tooManyGaps
        case .tooManyLogs: .tooManyLogs
        case .tooManyPolls: .tooManyPolls
        case .tooManyLosses: .tooManyLosses
        }
    }
}

/// Why a collar that sent its identity was not accepted.
package enum CollarRefusal: Hashable, Sendable {
    /// The host already knows as many collars as it accepts.
    case tooManyCollars(limit: Int)
    /// New collars come faster than a host accepts them; it accepts this one later.
    case tooManyAtOnce
}
