import CollarARQ
import CollarWire

/// The status of a collar, and the frames of its replies.
extension Collar {
    /// The shortest time between two statuses.
    static var statusMicroseconds: Int64 { 60_000_000 }

    /// Milliseconds since the boot; 0 if the caller's clock shows a time before the boot.
    mutating func uptimeMilliseconds(now: Instant) -> Int64 { max(0, now.microseconds(since: bootInstant)) / 1000 }

    /// Whether ``condition`` is known and the queue has room for two replies.
    var isStatusPossible: Bool { condition != nil && replies.room > 1 }

    /// Queues a wanted status if it is possible and a minute has passed since the last status.
    mutating func queueStatusIfDue(now: Instant) {
        guard isStatusWanted, isStatusPossible else { return }
        if let last = lastStatus, now.microseconds(since: last) < Self.statusMicroseconds { return }
        isStatusWanted = false
        lastStatus = now
        reply(.status)
    }

    @inline(never) mutating func status(now: Instant) -> Status {
        var status = Status()
        status.isTracking = isTracking
        status.trackingSinceUnixSeconds = trackingSinceUnixSeconds
        let uptime = uptimeMilliseconds(now: now)
        status.uptimeSeconds = UInt32(truncatingIfNeeded: uptime / 1000)
        status.fixesSent = fixesSentCount
        status.queueDepth = min(delivery.delivered.missingCount(below: nextSequence), 0xFF_FFFF)
        status.drops = dropCount & 0xFF_FFFF
        status.duplicates = repeatedRequestCount & 0xFF_FFFF
        status.retransmissions = delivery.retransmissionCount & 0xFF_FFFF
        status.airtimeMilliseconds = UInt32(truncatingIfNeeded: delivery.airtimeMicroseconds / 1000)
        guard let condition else { return status }
        status.gnssState = condition.gnssState
        status.throttleState = condition.throttleState
        status.isStationary = condition.isStationary
        if let percent = condition.batteryPercent, percent <= 100 { status.batteryPercent = percent }
        if let millivolts = condition.batteryMillivolts, millivolts <= 8190 { status.batteryMillivolts = millivolts }
        if let celsius = condition.temperatureCelsius, celsius > -128 { status.temperatureCelsius = celsius }
        status.lastError = lastError(in: condition)
        status.clock = condition.unixMilliseconds(atUptimeMilliseconds: uptime).map {
            Status.Clock(unixMilliseconds: $0, uptimeMilliseconds: UInt16(truncatingIfNeeded: uptime % 1000))
        }
        return status
    }

    @inline(never) mutating func encodeReply(flags: FrameFlags, now: Instant, into output: inout OutputSpan<UInt8>) {
        let address = configuration.address
        do throws(EncodeError) {
            switch replies.removeFirst() {
            case .result(let result):
                try result.encode(address: address, flags: flags, log: log, into: &output)
            case .settings(let requestID, let part):
                let report = Settings(
                    direction: .report, requestID: requestID, version: settings.version,
                    entries: settings.entries(ofPart: part))
                try report.encode(address: address, flags: flags, log: log, into: &output)
            case .status:
                try status(now: now).encode(address: address, flags: flags, log: log, into: &output)
            case nil: preconditionFailure("every reply that was counted waits")
            }
        } catch { preconditionFailure("a reply fits the smallest frame") }
    }
}
