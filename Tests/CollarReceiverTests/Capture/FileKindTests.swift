import CollarWire
import Testing

@testable import CollarReceiver

@Suite("Kinds of files that are given by mistake")
struct FileKindTests {
    private func kind(_ text: String) -> FileKind? { FileKind(startingWith: Array(text.utf8)) }

    @Test func text() {
        #expect(kind("{\"seq\":1}\n{") == .jsonLines)
        #expect(kind("\u{FEFF} \r\n{\"seq\":1}") == .jsonLines)
        #expect(kind("{\r\n  \"seq\": 1\r\n}") == .jsonObject)
        #expect(kind("{ \"a\": {\n\"b\": 1}}") == .jsonObject)
        #expect(kind("{\"seq\":}\n") == nil)
        #expect(kind("[\n{}]") == .jsonArray)
        #expect(kind("<gpx>") == .xml)
        #expect(kind("$GPGGA,1,2") == .nmea)
        #expect(kind("!AIVDM,1,1,,A,x,0") == .nmea)
        #expect(kind("$5,00 and") == nil)
        #expect(kind("a;b;c\r\n") == .csv)
        #expect(kind("one, two") == nil)
        #expect(kind("") == nil)
    }

    @Test func bytes() {
        #expect(FileKind(startingWith: [0x1F, 0x8B]) == .compressed(unpacker: "zcat"))
        #expect(FileKind(startingWith: [0x7B, 0, 0x22, 0]) == .utf16(name: "UTF-16LE"))
        #expect(FileKind(startingWith: [0, 0x7B, 0, 0x22]) == .utf16(name: "UTF-16BE"))
        #expect(FileKind(startingWith: [0xFE, 0xFF, 0, 0x7B]) == .utf16(name: "UTF-16"))
        // A frame of a serial line begins with a delimiter.
        #expect(FileKind(startingWith: [0, 2, 33, 2, 1, 4]) == nil)
        #expect(FileKind(startingWith: [0x2C, 0x2C, 0x2C, 1]) == nil)
    }

    @Test func frames() throws {
        let identity = Identity(
            log: LogIdentity(deviceID: 1, logID: 2), bootCount: 1, oldestSequence: 0, nextSequence: 0, pairedReceiverID: 0,
            maximumFrameByteCount: 253, firmwareVersion: FirmwareVersion(major: 0, minor: 1, patch: 0),
            capabilities: Capabilities(rawValue: 0), heartbeatSeconds: 60)
        var frame = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try identity.encode(address: 1, flags: FrameFlags(poll: nil), into: &output)
        }
        func serial() -> [UInt8] {
            [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { StreamEncoder.encode(frame.span, into: &$0) }
        }
        #expect(FileKind(startingWith: serial()) == .frames(isBare: false))
        #expect(FileKind(startingWith: [9, 9, 0] + serial()) == .frames(isBare: false))
        #expect(FileKind(startingWith: [0, UInt8(frame.count)] + frame) == .frames(isBare: true))
        #expect(FileKind(startingWith: [0, UInt8(frame.count)] + frame.dropLast()) == nil)
        frame[4] ^= 1
        #expect(FileKind(startingWith: serial()) == nil)
        #expect(FileKind(startingWith: [0, UInt8(frame.count)] + frame) == nil)
    }
}
