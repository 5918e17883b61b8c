import CollarFormats
import CollarWire
import Testing

/// Descriptions of messages for people.
@Suite struct MessageDescriptionTests {
    private func header(_ type: MessageType, flags: UInt8) throws -> FrameHeader {
        try FrameHeader(([0x20 | type.rawValue, flags, 17, 0, 0, 0, 0] as [UInt8]).span)
    }

    @Test(arguments: [(0, "none"), (60, "below 60")] as [(UInt32, String)])
    func anIdentityTellsWhatIsDeliveredElsewhere(value: UInt32, text: String) throws {
        let log = LogIdentity(deviceID: 1, logID: 2)
        let identity = Identity(
            log: log, bootCount: 1, oldestSequence: 100, nextSequence: 103, pairedReceiverID: 7,
            maximumFrameByteCount: 51, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
            capabilities: .compass, heartbeatSeconds: 60, deliveredElsewhere: value)
        let fields = MessageDescription.fields(of: .identity(identity))
        #expect(fields.last?.name == "delivered elsewhere")
        #expect(fields.last?.value == text)
    }

    @Test(arguments: [
        (.tombstone, 0b0000_0010, "tombstone, address 17, poll 2"),
        (.tombstone, 0b0000_1010, "tombstone, address 17, poll 2, delivered elsewhere"),
        (.tombstone, 0b0001_1000, "tombstone, address 17, delivered elsewhere, unknown flags 10"),
        (.probe, 0b0000_1000, "probe, address 17, unknown flags 08"),
    ] as [(MessageType, UInt8, String)])
    func aLineOfAHeaderNamesTheFlags(type: MessageType, flags: UInt8, line: String) throws {
        #expect(MessageDescription.line(of: try header(type, flags: flags)) == line)
    }
}
