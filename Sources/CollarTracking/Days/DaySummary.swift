/// A fix as days are computed from it.
package struct Sighting: Equatable, Sendable {
    package var position: Position
    /// Radius in metres; nil if unknown.
    package var accuracyMeters: Double?
    /// When the fix was made, in milliseconds since 1970.
    package var unixMilliseconds: Int64
    /// Whether it was received more than ``DaySummary/lateAfterMilliseconds`` after it was made.
    package var isLate: Bool
    package var batteryPercent: UInt8?
    /// The name of the place that it is in; nil outside of all.
    package var place: String?

    package init(
        position: Position, accuracyMeters: Double?, unixMilliseconds: Int64, isLate: Bool, batteryPercent: UInt8?, place: String?
    ) {
        self.position = position
        self.accuracyMeters = accuracyMeters
        self.unixMilliseconds = unixMilliseconds
        self.isLate = isLate
        self.batteryPercent = batteryPercent
        self.place = place
    }
}

/// The sums of a day.
package struct DaySummary: Equatable, Sendable {
    /// A fix that is received later than this after it was made is late, in milliseconds.
    package static let lateAfterMilliseconds: Int64 = 60_000

    package internal(set) var fixCount = 0
    package internal(set) var lateCount = 0
    /// Entries of the log that are not stored and may still come.
    package internal(set) var missingCount = 0
    /// Entries of the log that will not come: they are lost, or another receiver has them.
    package internal(set) var lostCount = 0
    package internal(set) var distanceMeters = 0.0
    /// The greatest distance from home; nil without a home, or without a fix that is accurate enough.
    package internal(set) var farthestMeters: Double?
    /// Time at each place, in milliseconds. What is not at any place is not in it.
    package internal(set) var timeAtPlaces: [String: Int64] = [:]
    package internal(set) var firstBatteryPercent: UInt8?
    package internal(set) var lastBatteryPercent: UInt8?
    package internal(set) var lowestBatteryPercent: UInt8?
}

/// Sums the fixes of a collar by day.
///
/// Distance counts from an anchor, at first the first fix. A fix that is farther from the anchor than the root of the sum of the squares of
/// both accuracies is a movement: its distance counts, and it becomes the anchor. Any other fix becomes the anchor only if it is more
/// accurate. So an animal that rests does not walk because of the noise. A step counts on the day of its end.
///
/// The time between two fixes counts for a place if both are in it, and half of it if one is. No more than ``longestGap`` is known.
package struct DayBook: Sendable {
    /// The accuracy of a fix whose accuracy is unknown, in metres.
    package static let unknownAccuracyMeters = 10.0
    /// A fix that is less accurate does not count for the greatest distance, in metres.
    package static let poorAccuracyMeters = 50.0
    /// The longest time between two fixes that counts for places, in milliseconds.
    package static let longestGap: Int64 = 12 * 3_600_000

    /// A day by its number, and its first instant in milliseconds since 1970.
    package struct Day: Hashable, Sendable {
        package let number: Int64
        package let startUnixMilliseconds: Int64

        package init(number: Int64, startUnixMilliseconds: Int64) {
            self.number = number
            self.startUnixMilliseconds = startUnixMilliseconds
        }
    }

    private let home: Position?
    /// By the numbers of days.
    package private(set) var days: [Int64: DaySummary] = [:]
    private var anchor: Sighting?
    private var last: (sighting: Sighting, day: Day)?

    /// - Parameter home: from where the greatest distance counts; nil to leave it out.
    package init(home: Position?) { self.home = home }

    /// Adds the next fix of the collar's log.
    /// - Parameter day: the day at its time.
    ///
    /// Complexity: constant, with a geodesic or two.
    package mutating func add(_ sighting: Sighting, on day: Day) {
        var summary = days[day.number] ?? DaySummary()
        summary.fixCount += 1
        if sighting.isLate { summary.lateCount += 1 }
        summary.distanceMeters += step(to: sighting)
        if let home, sighting.accuracyMeters.map({ $0 <= DayBook.poorAccuracyMeters }) ?? true {
            let distance = Geodesic(from: home, to: sighting.position).lengthMeters
            summary.farthestMeters = max(summary.farthestMeters ?? 0, distance)
        }
        if let battery = sighting.batteryPercent {
            if summary.firstBatteryPercent == nil { summary.firstBatteryPercent = battery }
            summary.lastBatteryPercent = battery
            summary.lowestBatteryPercent = min(summary.lowestBatteryPercent ?? battery, battery)
        }
        days[day.number] = summary
        if let last { addTimes(from: last.sighting, on: last.day, to: sighting, on: day) }
        last = (sighting, day)
    }

    /// Adds entries that are not stored, which lie after the last fix that was added.
    package mutating func addMissing(_ count: Int) { change { $0.missingCount += count } }
    package mutating func addLost(_ count: Int) { change { $0.lostCount += count } }

    private mutating func change(_ body: (inout DaySummary) -> Void) {
        // Before the first fix no day is known.
        guard let number = last?.day.number else { return }
        body(&days[number, default: DaySummary()])
    }

    private mutating func step(to sighting: Sighting) -> Double {
        guard let anchor else {
            self.anchor = sighting
            return 0
        }
        let (before, now) = (anchor.accuracyMeters ?? DayBook.unknownAccuracyMeters, sighting.accuracyMeters ?? DayBook.unknownAccuracyMeters)
        let distance = Geodesic(from: anchor.position, to: sighting.position).lengthMeters
        let isMovement = distance * distance > before * before + now * now
        if isMovement || now < before { self.anchor = sighting }
        return isMovement ? distance : 0
    }

    private mutating func addTimes(from start: Sighting, on startDay: Day, to end: Sighting, on endDay: Day) {
        let (begin, finish) = (start.unixMilliseconds, end.unixMilliseconds)
        guard begin < finish, finish - begin <= DayBook.longestGap else { return }
        let middle = begin + (finish - begin) / 2
        for (place, from, until) in [(start.place, begin, middle), (end.place, middle, finish)] {
            guard let place else { continue }
            let midnight = startDay == endDay ? from : min(max(endDay.startUnixMilliseconds, from), until)
            if midnight > from { days[startDay.number]?.timeAtPlaces[place, default: 0] += midnight - from }
            if until > midnight { days[endDay.number]?.timeAtPlaces[place, default: 0] += until - midnight }
        }
    }
}
