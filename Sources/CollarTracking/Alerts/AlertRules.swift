/// The alerts that a person wants.
package struct AlertRules: Equatable, Sendable {
    /// The distance from the owner beyond which an animal is far, in metres; nil for no such alert.
    package var fartherMeters: Double?
    /// The time without reception after which a collar is silent, in milliseconds; nil for no such alert.
    package var silentMilliseconds: Int64? = 7_200_000
    /// When alerts are quiet; nil for never.
    package var quietHours: QuietHours?

    package init() {}
}

/// A part of each day, in local time. It may lie over midnight.
package struct QuietHours: Equatable, Sendable {
    /// Minutes after midnight, 0 … 1439. The end does not belong to it.
    package let startMinute: Int
    package let endMinute: Int

    /// - Returns: nil if either is no minute of a day, or both are the same.
    package init?(startMinute: Int, endMinute: Int) {
        guard startMinute != endMinute, (0..<1440).contains(startMinute), (0..<1440).contains(endMinute) else { return nil }
        (self.startMinute, self.endMinute) = (startMinute, endMinute)
    }

    package func contains(minute: Int) -> Bool {
        startMinute < endMinute
            ? (startMinute..<endMinute).contains(minute) : minute >= startMinute || minute < endMinute
    }
}
