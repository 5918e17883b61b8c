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
        #expect(FileKind(startingWith: [0x7B, 0, 0x22, 0]) == .utf16)
        #expect(FileKind(startingWith: [0, 0x7B, 0, 0x22]) == .utf16)
        // A frame of a serial line begins with a delimiter.
        #expect(FileKind(startingWith: [0, 2, 33, 2, 1, 4]) == nil)
        #expect(FileKind(startingWith: [0x2C, 0x2C, 0x2C, 1]) == nil)
    }
}
