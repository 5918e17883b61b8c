/// The position of an owner who moves, from what a GNSS receiver says: it changes in steps, and it is unknown once the receiver is silent.
package struct OwnerTrack: Equatable, Sendable {
    /// The distance from the last position at which another one counts, in metres: a receiver at rest moves by less.
    package static let stepMeters = 10.0
    /// The time without a position after which the owner may be anywhere, in microseconds.
    package static let longestSilence: Int64 = 30_000_000

    /// Nil while it is unknown.
    package private(set) var position: Position?
    /// When the receiver said a position last, or when the track began; nil once the silence was told.
    private var heardAt: Int64?

    /// Times are in microseconds, by a clock that only goes forward.
    package init(at microseconds: Int64) { heardAt = microseconds }

    /// The receiver says where the owner is.
    /// - Returns: whether ``position`` has changed.
    package mutating func take(_ heard: Position, at microseconds: Int64) -> Bool {
        heardAt = microseconds
        if let position, Geodesic(from: position, to: heard).lengthMeters < OwnerTrack.stepMeters { return false }
        position = heard
        return true
    }

    /// When ``deadlineReached(at:)`` is due, in microseconds; nil once the silence was told.
    package var nextDeadline: Int64? { heardAt.map { $0 + OwnerTrack.longestSilence } }

    /// - Returns: whether the receiver has become silent, so that ``position`` is unknown.
    package mutating func deadlineReached(at microseconds: Int64) -> Bool {
        guard let nextDeadline, microseconds >= nextDeadline else { return false }
        (position, heardAt) = (nil, nil)
        return true
    }
}
