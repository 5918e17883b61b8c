import CollarARQ
import CollarFirmware
import CollarWire

/// The rules of a ``ScheduleTrial``.
extension ScheduleTrial {
    /// Compares the collar with what is expected of it now.
    mutating func judge() {
        let supply = device.gnssSupply
        if expected.isOn != (supply == .on) { broken("the supply of the receiver is \(supply)") }
        if expected.isOff != (supply == .off) { broken("the supply of a receiver that waits is \(supply)") }
        if device.collar.nextSequence != UInt32(logged.count) {
            broken("\(device.collar.nextSequence) fixes are logged, and not \(logged.count)")
        }
        let end = radio.window.flatMap { now < $0.end ? $0.end : nil }
        if !radio.isSending, device.listeningEnd(now: instant)?.microseconds != end {
            broken("the radio listens until \(device.listeningEnd(now: instant)?.microseconds ?? 0), and not until \(end ?? 0)")
        }
        guard !radio.isSending else { return }
        if let awaited = radio.awaited {
            if now >= awaited.deadline { broken("no frame follows a poll without an answer") }
        } else {
            if now >= radio.lastTraffic + 1_000_000 * radio.heartbeatSeconds { broken("\(radio.heartbeatSeconds) s pass without a frame") }
            if radio.isPowerReportOwed { broken("a power report that was asked for is not sent") }
        }
    }

    mutating func judge(_ message: Message) {
        switch message {
        case .fix(let fix):
            if Int(fix.sequence) >= logged.count || logged[Int(fix.sequence)] != fix.unixMilliseconds { broken("another position was logged as fix \(fix.sequence)") }
        case .status(let status):
            statuses += 1
            if statuses > statusReasons { broken("a status has no reason") }
            let isResting = demand != .nothing && !expected.isOn
            if status.isResting != isResting { broken("a status tells that the collar rests: \(status.isResting)") }
        case .settings(let report): judge(report)
        case .powerReport(let report): judge(report)
        default: break
        }
    }

    private mutating func judge(_ report: Settings) {
        var keys: Set<UInt8> = []
        for index in 0..<report.entries.count {
            let entry = report.entries[index]
            keys.insert(entry.key)
            guard let key = SettingKey(rawValue: entry.key), ScheduleTrial.knows(key), setting(key) != Int64(entry.value) else { continue }
            broken("setting \(entry.key) is reported as \(entry.value), and not as \(setting(key))")
        }
        let parts: [Set<UInt8>] = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [13, 14, 15, 16, 17, 18], [19, 20, 21, 22, 23]]
        let wanted = radio.reportKeys[report.requestID].map { [$0] } ?? parts
        if !wanted.contains(keys) { broken("a report of settings names \(keys.sorted())") }
    }

    private mutating func judge(_ report: PowerReport) {
        let isPrompt = radio.lastUnanswered < (radio.lastPowerReport ?? 0) - 60_000_000
        if let last = radio.lastPowerReport, isPrompt, !radio.isPowerReportOwed, now - last < 595_000_000 {
            broken("a power report after \((now - last) / 1_000_000) s")
        }
        radio.lastPowerReport = now
        radio.isPowerReportOwed = false
        var wanted = PowerReport()
        wanted.mode = mode
        wanted.supply = PowerReport.Supply(rawValue: expected.code) ?? .off
        wanted.uptimeSeconds = UInt32((now - bootTime) / 1_000_000)
        if expected.isOn {
            wanted.secondsToSearch = 0
        } else if let next = expected.nextSearch(demand) {
            wanted.secondsToSearch = UInt32(max(0, next - now) / 1_000_000)
        }
        wanted.failuresInRow = UInt8(min(255, expected.failuresInRow))
        wanted.timeToFixTenths = expected.timeToFix.map { UInt16($0 / 100_000) }
        wanted.gnssSeconds = UInt32(expected.onMicroseconds(at: now) / 1_000_000)
        wanted.listeningMilliseconds = UInt32(radio.listenedMicroseconds(at: now) / 1000)
        wanted.awakeMilliseconds = UInt32(awakeMicroseconds / 1000)
        wanted.searches = UInt32(expected.searches)
        wanted.failures = UInt32(expected.failures)
        if report != wanted { broken("a power report is \(report), and not \(wanted)") }
    }

    private var mode: PowerReport.Mode {
        guard demand != .nothing else { return .stopped }
        if isFinding { return .find }
        guard case .every = demand, !expected.isEndless else { return .continuous }
        if expected.failuresInRow >= 3 { return .noSky }
        return device.collar.condition?.isStationary ?? false ? .resting : .moving
    }
}
