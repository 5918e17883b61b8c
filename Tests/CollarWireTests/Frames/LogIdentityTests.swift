import CollarWire
import Testing

@Suite struct LogIdentityTests {
    @Test func aLogIDHasAtMost26Bits() {
        #expect(LogIdentity(deviceID: 0xFFFF_FFFF_FFFF_FFFF, logID: 0x3FF_FFFF)?.logID == 0x3FF_FFFF)
        #expect(LogIdentity(deviceID: 0, logID: 0x400_0000) == nil)
        #expect(LogIdentity(deviceID: 0, logID: .max) == nil)
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
