/// Decides on which side of a border an animal is, from fixes of limited accuracy.
///
/// A fix is clear of the border if it is farther from it than four times its accuracy; inside, half of the place's depth suffices. The
/// animal has crossed when all fixes in a row are clear on the other side for at least ``confirmationMilliseconds``: so one fix alone never
/// moves it. A fix that is less accurate than ``DayBook/poorAccuracyMeters`` counts for nothing.
package struct BorderWatch: Equatable, Sendable {
    /// The time for which fixes must be clear on the other side, in milliseconds.
    package static let confirmationMilliseconds: Int64 = 20_000
    /// How many times its accuracy a fix must be away from the border.
    package static let clearance = 4.0
    /// No fix counts as more accurate than this, in metres.
    package static let bestAccuracyMeters = 5.0

    package internal(set) var isInside: Bool
    /// The time of the first of the fixes in a row that are clear on the other side, in milliseconds since 1970.
    var clearSince: Int64?
    /// The time of the first of the fixes in a row that are on the other side, in milliseconds since 1970.
    var acrossSince: Int64?

    /// - Parameter distanceMeters: from the border to the first fix: negative inside.
    package init(distanceMeters: Double) { isInside = distanceMeters <= 0 }

    init(isInside: Bool, clearSince: Int64?, acrossSince: Int64?) {
        (self.isInside, self.clearSince, self.acrossSince) = (isInside, clearSince, acrossSince)
    }

    /// On the same side, with no crossing begun.
    var withoutCrossing: BorderWatch { BorderWatch(isInside: isInside, clearSince: nil, acrossSince: nil) }

    /// Takes the next fix in the order of the log.
    /// - Parameters:
    ///   - distanceMeters: from the border: negative inside.
    ///   - depthMeters: the greatest distance from the border inside.
    /// - Returns: when the animal was first seen across the border, if it has crossed; in milliseconds since 1970.
    package mutating func take(
        distanceMeters: Double, accuracyMeters: Double, depthMeters: Double, at unixMilliseconds: Int64
    ) -> Int64? {
        let across = isInside ? distanceMeters : -distanceMeters
        guard across > 0 else {
            (clearSince, acrossSince) = (nil, nil)
            return nil
        }
        let first = acrossSince ?? unixMilliseconds
        acrossSince = first
        let clear = BorderWatch.clearance * max(accuracyMeters, BorderWatch.bestAccuracyMeters)
        guard across >= (isInside ? clear : min(clear, depthMeters / 2)) else {
            clearSince = nil
            return nil
        }
        let begin = clearSince ?? unixMilliseconds
        clearSince = begin
        guard unixMilliseconds - begin >= BorderWatch.confirmationMilliseconds else { return nil }
        self = BorderWatch(isInside: !isInside, clearSince: nil, acrossSince: nil)
        return first
    }
}
