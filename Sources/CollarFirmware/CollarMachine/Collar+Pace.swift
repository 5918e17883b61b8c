import CollarARQ
import CollarWire

/// How often new fixes are sent.
extension Collar {
    /// Sets the shortest time between two newest fixes that are sent; 0, as after a boot, for no limit. New fixes that wait go
    /// together in a batch. A message of the application does not wait, nor does a fix whose horizontal accuracy differs from that
    /// of the newest fix that was sent by more than the settings say.
    public mutating func setLiveInterval(milliseconds: UInt32) {
        delivery.setLiveInterval(microseconds: Int64(widening: milliseconds) * 1000)
    }

    /// Notes that the newest entry of the log must not wait.
    public mutating func newestIsUrgent() { delivery.newestIsUrgent() }

    /// When a frame that was due last had to wait because the duty cycle was used up; nil if none had to since the boot.
    var lastAirtimeWait: Instant? { delivery.lastAirtimeWait }

    /// Whether the horizontal accuracy differs enough from what was sent. A change from or to an unknown accuracy is one.
    var isAccuracyChanged: Bool {
        guard let newest = newestAccuracy, let sent = sentAccuracy else { return newestAccuracy != sentAccuracy }
        let (first, second) = (newest.millimeters, sent.millimeters)
        return max(first, second) - min(first, second) > 10 * settings[.accuracyChangeCentimeters]
    }
}
