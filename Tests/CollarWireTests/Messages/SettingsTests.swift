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

/// The keys and their ranges, as section 14 of PROTOCOL.md lists them.
@Suite struct SettingKeyTests {
    private static let day: UInt32 = 86_400_000
    /// By number: the values that a collar accepts, and whether it also accepts 0.
    private static let table: [(range: ClosedRange<UInt32>, takesZero: Bool)] = [
        (100...day, false), (100...day, false), (100...day, false), (100...day, false), (1...100_000, false), (1...100_000, false),
        (1...86_400, false), (5...65_535, false), (5...7, false), (0...1, true), (100...day, false), (100...day, false),
        (5...12, true), (1...65_535, true), (0...1, true), (1000...day, true), (1000...day, true), (10...600, false),
        (1...100_000, true), (5...65_535, true), (30...65_535, true), (0...65_535, true), (0...120, true),
    ]

    @Test func theKeysAreThoseOfTheSpecification() {
        let count = UInt8(SettingKeyTests.table.count)
        #expect(SettingKey.count == count)
        for code in 0...255 as ClosedRange<UInt8> { #expect((SettingKey(rawValue: code) != nil) == (1...count).contains(code)) }
    }

    @Test(arguments: table.indices)
    func aKeyTakesItsRange(_ index: Int) throws {
        let key = try #require(SettingKey(rawValue: UInt8(index + 1)))
        let (range, takesZero) = SettingKeyTests.table[index]
        #expect(key.accepts(0) == takesZero)
        #expect(key.accepts(range.lowerBound) && key.accepts(range.upperBound))
        #expect(!key.accepts(range.upperBound + 1) && !key.accepts(.max))
        if range.lowerBound > 1 { #expect(!key.accepts(1) && !key.accepts(range.lowerBound - 1)) }
    }

    @Test func intervalsAreTheSettingsBetweenFixes() {
        let intervals = (1...SettingKey.count).filter { SettingKey(rawValue: $0)?.isInterval == true }
        #expect(intervals == [1, 2, 3, 4, 11, 12, 16, 17])
    }
}
