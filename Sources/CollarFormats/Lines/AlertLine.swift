import CollarJournal
import CollarTracking
import CollarWire

/// An alert of a collar, as it is handed out.
package struct RaisedAlert: Equatable, Sendable {
    package let alert: Alert
    package let id: AlertID
    package let deviceID: DeviceID
    /// The fix that has caused it; nil for any other cause.
    package let fix: JournaledFix?

    package init(_ alert: Alert, of deviceID: DeviceID, fix: JournaledFix?) {
        self.alert = alert
        self.deviceID = deviceID
        if case .fix = alert.cause { self.fix = fix } else { self.fix = nil }
        id = AlertID(alert, of: deviceID)
    }
}

/// An alert as a line.
package struct AlertLine {
    let raised: RaisedAlert
    /// The animal that wore the collar; nil if none is known to.
    private let name: String?
    /// The fix that has caused it, as it is shown.
    private let shown: ReceivedFix?
    private let owner: Owner
    /// Whether it happened in the quiet hours.
    package let isQuiet: Bool

    /// - Parameters:
    ///   - owner: whose distance counts.
    ///   - quietHours: in the time of the zone.
    ///   - zone: the local time zone; nil for UTC.
    package init(
        _ raised: RaisedAlert, name: String?, shown: ReceivedFix?, owner: Owner, quietHours: QuietHours?, zone: TimeZoneOffset?
    ) {
        (self.raised, self.name, self.shown, self.owner) = (raised, name, shown, owner)
        let minutes = raised.alert.unixMilliseconds.dividedDown(by: 60_000).quotient
        let east = zone?.minutesEast(unixMilliseconds: raised.alert.unixMilliseconds) ?? 0
        isQuiet = quietHours?.contains(minute: Int((minutes + east).dividedDown(by: 1440).remainder)) ?? false
    }

    var unixMilliseconds: Int64 { raised.alert.unixMilliseconds }

    /// The line of JSON, with its line feed; `Protocol/schema/alert.schema.json` describes it.
    var json: [UInt8] {
        var object = JSONLine(type: "alert", unixMilliseconds: raised.alert.unixMilliseconds)
        object.add("alert", raised.alert.event.name)
        object.add("id", UUIDHalves(high: raised.id.high, low: raised.id.low).text)
        object.add("text", text)
        addDetails(to: &object)
        if raised.alert.isLate { object.add("late", true) }
        if isQuiet { object.add("quiet", true) }
        object.add(collar: raised.deviceID, name: name)
        if let shown {
            object.add("log", shown.logID.rawValue)
            object.add("seq", shown.fix.sequence)
            var coordinate = JSONLine()
            coordinate.add("latitude", number: shown.fix.latitudeDegrees.text)
            coordinate.add("longitude", number: shown.fix.longitudeDegrees.text)
            object.add("coordinate", coordinate)
            object.add("h_accuracy_m", number: shown.fix.horizontalAccuracyMeters?.text ?? "-1")
            if shown.whereabouts?.isPrivate == true { object.add("private", true) }
        }
        return object.line
    }

    private func addDetails(to object: inout JSONLine) {
        if let place = raised.alert.event.place { object.add("place", place) }
        switch raised.alert.event {
        case .left(_, let since), .entered(_, let since), .silent(let since), .heard(let since): object.add("since_unix_ms", since)
        case .far(let limit, let since), .near(let limit, let since):
            object.add("since_unix_ms", since)
            object.add("limit_m", Int64(limit.rounded()))
            object.add("owner", owner.source)
        case .batteryLow(let percent), .batteryCritical(let percent): object.add("battery_pct", percent)
        case .placeChanged(_, let isInside): object.add("inside", isInside)
        case .ownerMoved(let isFar):
            object.add("far", isFar)
            object.add("owner", owner.source)
        case .clockChanged(let milliseconds): object.add("back_ms", milliseconds)
        case .poorFixes, .noFix, .gnssFault, .restarted: break
        }
    }

    /// The alert, for a person.
    package var text: String {
        let animal = name ?? "collar \(raised.deviceID)"
        let time = raised.alert.unixMilliseconds
        return switch raised.alert.event {
        case .left(let place, _): "\(animal) left \(place)"
        case .entered(let place, _): "\(animal) entered \(place)"
        case .far(let limit, _): "\(animal) is farther than \(Int(limit)) m from the owner"
        case .near(let limit, _): "\(animal) is within \(Int(limit)) m of the owner again"
        case .batteryLow(let percent): "\(animal): the battery is low, \(percent) %"
        case .batteryCritical(let percent): "\(animal): the battery is almost empty, \(percent) %"
        case .silent(let since): "\(animal): nothing heard for \(durationText(milliseconds: time - since))"
        case .heard(let since): "\(animal): heard again after \(durationText(milliseconds: time - since))"
        case .poorFixes(let accuracy): "\(animal): positions are inaccurate, ±\(Int(accuracy.rounded())) m"
        case .noFix: "\(animal): heard, but there are no new positions"
        case .gnssFault: "\(animal): the GNSS receiver has a fault"
        case .restarted: "\(animal): the collar has restarted"
        case .placeChanged(let place, let isInside): "\(place) has changed; \(animal) is \(isInside ? "inside" : "outside")"
        case .ownerMoved(let isFar): "the owner or the limit has changed; \(animal) is \(isFar ? "farther than" : "within") the limit"
        case .clockChanged(let milliseconds): "\(animal): a clock went back by \(durationText(milliseconds: milliseconds))"
        }
    }
}
