import Glibc

/// A clock that only goes forward.
package enum MonotonicClock {
    /// Microseconds since some point before the process began.
    package static var microseconds: Int64 { microseconds(of: CLOCK_MONOTONIC) }

    package static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// The time of day.
package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static var unixMilliseconds: Int64 { MonotonicClock.microseconds(of: CLOCK_REALTIME) / 1000 }
}
