import CollarFormats
import Glibc

/// The time zone of this process: `TZ`, else that of the machine.
enum LocalTime {
    /// The offset of the zone at any time, with every change of the clocks that the zone's file knows.
    static let zone: TimeZoneOffset = {
        // localtime_r need not read the zone itself.
        tzset()
        return TimeZoneOffset { unixSeconds in
            var seconds = time_t(unixSeconds)
            var date = unsafe tm()
            guard unsafe localtime_r(&seconds, &date) != nil else { return 0 }
            return Int64(unsafe date.tm_gmtoff)
        }
    }()
}
