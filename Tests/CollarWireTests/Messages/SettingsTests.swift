import CollarWire
import Testing

/// The versions that receivers give to changes of settings.
@Suite struct SettingsVersionTests {
    private let now: Int64 = 1_795_000_000_123

    @Test func aVersionHoldsItsTimeAndItsOrigin() throws {
        let version = try #require(SettingsVersion(after: .defaults, unixMilliseconds: now, receiverID: 0xABCD_EF01))
        #expect(version.number == UInt64(now) && version.origin == 0xD_EF01)
        #expect(SettingsVersion(rawValue: version.rawValue) == version)
        #expect(SettingsVersion.defaults < version)
    }

    @Test func itGrowsWhateverTheClockSays() throws {
        var version = SettingsVersion.defaults
        for time in [now, now, now - 5000, -1, .min, 0, now + 1] as [Int64] {
            let next = try #require(SettingsVersion(after: version, unixMilliseconds: time, receiverID: 7))
            #expect(next.number == max(version.number + 1, UInt64(max(time, 0))))
            #expect(next.isPlausible(after: version))
            version = next
        }
        // If the clock of one receiver shows the year 5000, the other receivers must still be able to give a higher version.
        let far = try #require(SettingsVersion(after: version, unixMilliseconds: .max, receiverID: 7))
        #expect(far.number == 1 << 42 && far.isPlausible(after: version))
    }

    @Test func ofTwoReceiversInOneMillisecondOneWins() throws {
        let low = try #require(SettingsVersion(after: .defaults, unixMilliseconds: now, receiverID: 1))
        let high = try #require(SettingsVersion(after: .defaults, unixMilliseconds: now, receiverID: 2))
        #expect(low < high && !(high < low))
        let later = try #require(SettingsVersion(after: low, unixMilliseconds: now, receiverID: 1))
        #expect(high < later)
    }

    @Test func thereIsALastOne() throws {
        let last = try #require(SettingsVersion(number: (1 << 44) - 1, origin: 0))
        #expect(SettingsVersion(after: last, unixMilliseconds: now, receiverID: 1) == nil)
        #expect(SettingsVersion(number: 1 << 44, origin: 0) == nil)
        #expect(SettingsVersion(number: 0, origin: 1 << 20) == nil)
        #expect(!last.isPlausible(after: .defaults) && last.isPlausible(after: last))
    }
}
