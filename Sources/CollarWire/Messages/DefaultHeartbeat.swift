/// The heartbeat that is in force while setting 8 has its default (PROTOCOL.md, section 14): a collar whose fixes are far apart must
/// not wake its radio between them only to be heard.
public enum DefaultHeartbeat {
    /// The shortest, in seconds, and the value of setting 8 that stands for the default.
    public static var leastSeconds: UInt16 { 60 }

    /// The heartbeat in seconds: one and a half times the longest interval between fixes that the settings give, rounded up, within
    /// ``leastSeconds`` … 65,535.
    public static func seconds(longestIntervalMilliseconds: UInt32) -> UInt16 {
        let seconds = (UInt64(widening: longestIntervalMilliseconds) &* 3 &+ 1999) / 2000
        return seconds > 65_535 ? 65_535 : max(leastSeconds, UInt16(truncatingIfNeeded: seconds))
    }
}
