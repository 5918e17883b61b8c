import CollarARQ
import CollarSimulator
import CollarWire

/// What the host of a ``DutyCycleTrial`` wants of the collar: reports, settings, commands, reboots among them.
struct DutyCycleRequests {
    private let meanSeconds: Int64?
    private var nextRequest = Instant(microseconds: 0)

    /// - Parameter meanSeconds: between two requests; nil for none.
    init(meanSeconds: Int64?) { self.meanSeconds = meanSeconds }

    /// The request that is made now, if one is.
    mutating func next(now: Instant, random: inout SeededRandom) -> HostRequest? {
        guard let meanSeconds, now >= nextRequest else { return nil }
        nextRequest = now.advanced(byMicroseconds: Int64(random.next() % UInt64(2_000_000 * meanSeconds)))
        switch random.next() % 8 {
        case 0: return .command(.reboot)
        case 1: return .command(.locateNow)
        case 2: return .command(.sound(milliseconds: 500))
        case 3: return .command(.startTracking)
        case 4, 5:
            var settings = SettingList()
            // The shortest heartbeat makes the most frames.
            settings.append(Setting(key: SettingKey.heartbeatSeconds.rawValue, value: 5 + UInt32(random.next() % 56)))
            return .order(version: 0, settings)
        default: return .report
        }
    }
}
