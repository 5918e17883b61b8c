import CollarTracking
import CollarWire

/// The sums of a collar's day, as a line.
package struct DayLine {
    private let date: String
    private let deviceID: DeviceID
    private let name: String?
    private let summary: DaySummary

    /// - Parameter name: the animal that wore the collar at the end of the day; nil if none is known to.
    package init(date: String, deviceID: DeviceID, name: String?, _ summary: DaySummary) {
        (self.date, self.deviceID, self.name, self.summary) = (date, deviceID, name, summary)
    }

    private var places: [(name: String, seconds: Int64)] {
        summary.timeAtPlaces.map { ($0.key, ($0.value + 500) / 1000) }.sorted { $0.seconds != $1.seconds ? $0.seconds > $1.seconds : $0.name < $1.name }
    }

    /// The line of JSON, with its line feed; `Protocol/schema/day.schema.json` describes it.
    package var bytes: [UInt8] {
        var object = JSONLine(type: "day")
        object.add("date", date)
        object.add(collar: deviceID, name: name)
        object.add("fixes", summary.fixCount)
        object.add("late", summary.lateCount)
        object.add("missing", summary.missingCount)
        object.add("lost", summary.lostCount)
        object.add("distance_m", Int64(summary.distanceMeters.rounded()))
        object.add("farthest_m", summary.farthestMeters.map { Int64($0.rounded()) })
        object.add("places", places.map { place in
            var object = JSONLine()
            object.add("place", place.name)
            object.add("seconds", place.seconds)
            return object
        })
        object.add("first_battery_pct", summary.firstBatteryPercent)
        object.add("last_battery_pct", summary.lastBatteryPercent)
        object.add("lowest_battery_pct", summary.lowestBatteryPercent)
        return object.line
    }

    /// The columns of the table for people.
    package static let columns = ["DATE", "ANIMAL", "FIXES", "LATE", "MISSING", "LOST", "WALKED", "FARTHEST", "BATTERY", "PLACES"]

    package var cells: [String] {
        func length(_ meters: Double) -> String { meters < 10_000 ? "\(Int(meters.rounded())) m" : "\(Int((meters / 1000).rounded())) km" }
        let battery = summary.firstBatteryPercent.flatMap { first in summary.lastBatteryPercent.map { "\(first)-\($0) %" } }
        return [
            date, name?.withEscapedControls ?? "\(deviceID)", "\(summary.fixCount)", "\(summary.lateCount)", "\(summary.missingCount)",
            "\(summary.lostCount)", length(summary.distanceMeters), summary.farthestMeters.map(length) ?? "-", battery ?? "-",
            places.isEmpty ? "-" : places.map { "\($0.name) \(durationText(milliseconds: $0.seconds * 1000))" }.joined(separator: ", "),
        ]
    }
}
