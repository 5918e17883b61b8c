import CollarARQ
import CollarJournal
import LinuxSystem

extension HostTime {
    /// The present time of the system's clocks.
    package static var now: HostTime {
        HostTime(
            instant: Instant(microseconds: MonotonicClock.microseconds), unixMilliseconds: WallClock.unixMilliseconds)
    }
}
