/// The heartbeat that is in force while setting 8 has its default (PROTOCOL.md, section 18): a collar whose fixes are far apart must
/// not send a probe between them only to be heard.
public enum DefaultHeartbeat {
    /// The shortest, in seconds, and the value of setting 8 that stands for the default.
    public static var leastSeconds: UInt16 { 60 }

    /// The heartbeat in seconds: one and a half times the longest interval between fixes that the settings give, rounded up, within
    /// `leastSeconds` … 65,535.
    /// - Parameters:
    ///   - longestIntervalMilliseconds: the longest interval between fixes.
    ///   - leastSeconds: the default of setting 8 as built.
    public static func seconds(
        longestIntervalMilliseconds: UInt32, leastSeconds: UInt32 = UInt32(leastSeconds)
    ) -> UInt16 {
        // No setting is longer than a day.
        let longest = min(longestIntervalMilliseconds, 86_400_000)
        return UInt16(truncatingIfNeeded: min(max(leastSeconds, (longest &* 3 &+ 1999) / 2000), 65_535))
    }
}
