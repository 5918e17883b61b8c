import CollarWire

/// An event that an owner wants to be told of.
package struct Alert: Equatable, Sendable {
    package enum Event: Equatable, Sendable {
        /// `since`: the time of the first fix beyond the border, in milliseconds since 1970.
        case left(place: String, since: Int64)
        case entered(place: String, since: Int64)
        /// The animal is farther from its owner than the limit, or no longer.
        case far(limitMeters: Double, since: Int64)
        case near(limitMeters: Double, since: Int64)
        case batteryLow(percent: UInt8)
        case batteryCritical(percent: UInt8)
        /// `since`: the last reception, in milliseconds since 1970.
        case silent(since: Int64)
        case heard(since: Int64)
        case poorFixes(accuracyMeters: Double)
        /// The collar is heard, and sends no fix.
        case noFix
        case gnssFault
        case restarted
        /// A person has changed a place, so that nothing can be said of a crossing.
        case placeChanged(place: String, isInside: Bool)
        /// The owner or the limit of the distance has changed.
        case ownerMoved(isFar: Bool)
        /// A clock went back by this time.
        case clockChanged(milliseconds: Int64)
    }

    /// The cause of an alert, from which its id is made.
    package enum Cause: Equatable, Sendable {
        case fix(logID: LogID, sequence: UInt32)
        /// A reception, or an event of the receiver, at this time in milliseconds since 1970.
        case time(unixMilliseconds: Int64)
    }

    package let event: Event
    package let cause: Cause
    /// When it happened, in milliseconds since 1970: for a fix, when the collar made it.
    package let unixMilliseconds: Int64
    /// Whether the fix was received more than ``DaySummary/lateAfterMilliseconds`` after it was made.
    package let isLate: Bool

    package init(_ event: Event, _ cause: Cause, unixMilliseconds: Int64, isLate: Bool = false) {
        (self.event, self.cause, self.unixMilliseconds, self.isLate) = (event, cause, unixMilliseconds, isLate)
    }
}

extension Alert.Event {
    /// The word by which programs tell the kinds of alerts apart.
    package var name: String {
        switch self {
        case .left: "left"
        case .entered: "entered"
        case .far: "far"
        case .near: "near"
        case .batteryLow: "battery_low"
        case .batteryCritical: "battery_critical"
        case .silent: "silent"
        case .heard: "heard"
        case .poorFixes: "poor_fixes"
        case .noFix: "no_fix"
        case .gnssFault: "gnss_fault"
        case .restarted: "restarted"
        case .placeChanged: "place_changed"
        case .ownerMoved: "owner_moved"
        case .clockChanged: "clock_changed"
        }
    }

    /// A hash of its kind and place.
    var subject: UInt64 {
        var hash = Fingerprint()
        hash.add(name)
        if let place { hash.add(place) }
        return hash.words().high
    }

    /// The place that it concerns; nil if it concerns none.
    package var place: String? {
        switch self {
        case .left(let place, _), .entered(let place, _), .placeChanged(let place, _): place
        default: nil
        }
    }
}

/// The id of an alert: the same for each receiver that gets the same fix, and for each run.
package struct AlertID: Hashable, Sendable {
    /// The halves of a UUID of version 8 (RFC 9562), most significant bytes first.
    package let high: UInt64
    package let low: UInt64

    /// A hash of the collar, the cause, the kind and the place.
    package init(_ alert: Alert, of deviceID: DeviceID) {
        var hash = Fingerprint()
        hash.add(deviceID.rawValue)
        switch alert.cause {
        case .fix(let logID, let sequence):
            hash.add(UInt64(logID.rawValue))
            hash.add(UInt64(sequence))
        case .time(let unixMilliseconds): hash.add(UInt64(bitPattern: unixMilliseconds))
        }
        hash.add(alert.event.name)
        if let place = alert.event.place { hash.add(place) }
        let words = hash.words()
        high = words.high & ~0xF000 | 0x8000
        low = words.low & ~(0b11 << 62) | 0b10 << 62
    }
}

/// A hash of numbers and texts (Ascon-CXOF128), by which values are recognised again in files.
package struct Fingerprint {
    private var hash: AsconCXOF128

    package init() {
        let customization = Array("collar-link alert".utf8)
        hash = AsconCXOF128(customization: customization.span)
    }

    package mutating func add(_ number: UInt64) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        hash.absorb(bytes.span, from: 0, to: bytes.count)
    }

    package mutating func add(_ number: Double) { add(number.bitPattern) }

    /// Adds a text after its length, so that two texts are not one.
    package mutating func add(_ text: String) {
        let bytes = Array(text.utf8)
        add(UInt64(bytes.count))
        hash.absorb(bytes.span, from: 0, to: bytes.count)
    }

    /// 16 bytes of the hash.
    package func words() -> (high: UInt64, low: UInt64) {
        var ended = hash
        ended.end()
        let high = ended.next()
        return (high, ended.next())
    }
}
