import CollarLink
import FoundationEssentials
import CollarWire
import Testing

@Suite("Identifiers of fixes")
struct FixIdentifierTests {
    /// Worked out by hand: device 0123456789ab|cde|f, version 8, variant and last nibble 10 1111, log 12345678 =
    /// 00 1011 1100 0110 0001 0100 1110 in 26 bits, sequence 42.
    @Test("The layout, bit by bit")
    func layout() {
        let identifier = FixIdentifier(deviceID: 0x0123_4567_89AB_CDEF, logID: 12_345_678, sequence: 42)
        #expect(identifier.uuid.uuidString == "01234567-89AB-8CDE-BCBC-614E0000002A")
        #expect(identifier.bytes[0] == 0x01 && identifier.bytes[6] == 0x8C && identifier.bytes[15] == 0x2A)
    }

    @Test("Each part has its own bits")
    func parts() {
        func uuid(_ device: UInt64, _ log: UInt32, _ sequence: UInt32) -> String {
            FixIdentifier(deviceID: device, logID: log, sequence: sequence).uuid.uuidString
        }
        #expect(uuid(0, 0, 0) == "00000000-0000-8000-8000-000000000000")
        #expect(uuid(.max, 0, 0) == "FFFFFFFF-FFFF-8FFF-BC00-000000000000")
        #expect(uuid(0, LogIdentity.maximumLogID, 0) == "00000000-0000-8000-83FF-FFFF00000000")
        #expect(uuid(0, 0, .max) == "00000000-0000-8000-8000-0000FFFFFFFF")
    }

    @Test("It reads back")
    func readsBack() {
        for _ in 0..<1000 {
            let identifier = FixIdentifier(
                deviceID: .random(in: 0 ... .max), logID: .random(in: 0...LogIdentity.maximumLogID),
                sequence: .random(in: 0 ... .max))
            #expect(FixIdentifier(identifier.uuid) == identifier)
            #expect(FixIdentifier(high: identifier.high, low: identifier.low) == identifier)
        }
    }

    @Test(
        "Another version or variant is not ours",
        arguments: ["01234567-89AB-4CDE-BCBC-614E0000002A", "01234567-89AB-8CDE-7CBC-614E0000002A", "01234567-89AB-8CDE-CCBC-614E0000002A"])
    func foreign(text: String) throws {
        #expect(FixIdentifier(try #require(UUID(uuidString: text))) == nil)
    }
}
