import CollarControl
import CollarJournal
import CollarTracking
import FoundationEssentials
import LinuxSystem
import Synchronization

/// Measures how fast fixes and messages come, and how much this program uses.
///
///     let monitor = PerformanceMonitor(collar)
///     for try await fix in collar.fixes {
///         monitor.record(fix)
///         if pageIsShown { print(await monitor.report().summary) }
///     }
///
/// It has no timer: it measures when it is asked, so that an idle program sleeps.
public final class PerformanceMonitor: Sendable {
    /// The least time between two charges that are kept, in milliseconds: an hour's change of the charge needs no more.
    private static let chargeInterval: Int64 = 60_000
    /// The time after which the use of a processor says something, in microseconds.
    private static let shortestUse: Int64 = 1_000_000

    private struct Metrics {
        var fixLatency = LatencySamples()
        var messageLatency = LatencySamples()
        var newest: TrackedFix?
        var drain = BatteryDrain()
        /// The time of the newest charge that was added to ``drain``, in milliseconds since 1970.
        var chargedAt: Int64?
        let start = (microseconds: MonotonicClock.microseconds, processor: ProcessUsage.now.processorMicroseconds)
    }

    private let collar: Collar
    private let metrics = Mutex(Metrics())

    /// Makes a monitor.
    /// - Parameter collar: the collar, for the figures that its receiver has.
    public init(_ collar: Collar) { self.collar = collar }

    /// Notes that a fix has come.
    ///
    /// Its latency counts from its own time to now, by both clocks. It counts only for the newest fix, and up to 60 s: others waited out of
    /// reach.
    public func record(_ fix: LocationFix) {
        let now = collar.access.time.unixMilliseconds
        metrics.withLock { metrics in
            let fix = TrackedFix(fix)
            guard metrics.newest.map(fix.isLater(than:)) ?? true else { return }
            metrics.newest = fix
            let latency = (now - fix.unixMilliseconds) * 1000
            if latency <= PerformanceTarget.longestFixLatency { metrics.fixLatency.add(microseconds: latency) }
            let percent = fix.location.batteryPercentage
            guard percent >= 0, fix.unixMilliseconds - (metrics.chargedAt ?? 0) >= PerformanceMonitor.chargeInterval else { return }
            metrics.chargedAt = fix.unixMilliseconds
            metrics.drain.add(percent: UInt8(percent), unixMilliseconds: fix.unixMilliseconds)
            metrics.drain.forgetOld()
        }
    }

    /// Notes that a message was acknowledged.
    /// - Parameter latency: the time from its sending to its acknowledgement in seconds; a negative one is left out.
    public func recordMessage(latency: TimeInterval) {
        guard let microseconds = Int64(exactly: (latency * 1_000_000).rounded()) else { return }
        metrics.withLock { $0.messageLatency.add(microseconds: microseconds) }
    }

    /// Forgets what was measured.
    public func resetMetrics() { metrics.withLock { $0 = Metrics() } }

    /// Measures, and asks the running receiver for its figures.
    ///
    /// Latencies that this program has not recorded are those of the receiver, for all of its collars: of fixes until they are received,
    /// and of its answers to collars. A latency of fixes above 60 s says that a clock is wrong, and counts as unknown. Without a receiver
    /// that answers, they are nil, and so is ``PerformanceReport/link``.
    public func report() async -> PerformanceReport {
        // A receiver that does not answer is no error here: the rest is measured.
        let figures = try? await collar.access.figures()
        let wanted = try? await collar.links.wanted()
        let now = collar.access.time.unixMilliseconds
        let usage = ProcessUsage.now
        return metrics.withLock { metrics in
            let elapsed = MonotonicClock.microseconds - metrics.start.microseconds
            let used = usage.processorMicroseconds - metrics.start.processor
            let battery = metrics.newest?.location.batteryFraction
            return PerformanceReport(
                fixLatency: PerformanceReport.Latency(metrics.fixLatency.summary)
                    ?? PerformanceReport.Latency(
                        figures, .fixLatencyAverage, .fixLatencyP95, longest: PerformanceTarget.longestFixLatency),
                messageLatency: PerformanceReport.Latency(metrics.messageLatency.summary)
                    ?? PerformanceReport.Latency(figures, .messageLatencyAverage, .messageLatencyP95),
                memoryBytes: usage.residentByteCount.map { Int($0) },
                processorPercent: elapsed >= PerformanceMonitor.shortestUse ? Double(used) * 100 / Double(elapsed) : nil,
                batteryFraction: battery.flatMap { $0 < 0 ? nil : $0 },
                batteryDrainPercentPerHour: metrics.drain.milliPercentPerHour.map { Double($0) / 1000 },
                link: figures.map { figures in LinkTelemetry(figures) { wanted?.contains($0, at: now) ?? true } })
        }
    }
}
