import CollarWire
import Testing

@Suite struct LogIdentityTests {
    @Test func aLogIDHasAtMost26Bits() {
        #expect(LogID(rawValue: 0x3FF_FFFF) == .max)
        #expect(LogID(rawValue: 0x400_0000) == nil)
        #expect(LogID(rawValue: .max) == nil)
        #expect(LogID(lowBitsOf: 0xFC00_0005) == 5)
    }

    @Test func logsAreEqualWhereBothIdsAre() {
        #expect(LogIdentity(of: 1, logID: 2) == LogIdentity(of: 1, logID: 2))
        #expect(LogIdentity(of: 1, logID: 2) != LogIdentity(of: 2, logID: 2))
        #expect(LogIdentity(of: 1, logID: 2) != LogIdentity(of: 1, logID: 3))
    }

    @Test func theTagHas24BitsAndTellsLogsApart() {
        var tags: Set<UInt32> = []
        for logID in 0..<1000 as Range<UInt32> { tags.insert(LogIdentity(of: 1, logID: logID).tag) }
        #expect(tags.count == 1000)
        #expect(tags.allSatisfy { $0 < 1 &<< 24 })
    }
}
