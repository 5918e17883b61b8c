import CollarFormats
import Testing

@Suite("Ids of collars as text")
struct CollarIDTests {
    @Test("a prefix has 4 to 15 hexadecimal digits", arguments: ["910a", "910A", "0000", "cafe5", "123456789abcdef"])
    func prefix(text: String) { #expect(CollarID.isPrefix(text)) }

    @Test("fewer digits are no prefix", arguments: ["", "9", "910"])
    func tooShort(text: String) { #expect(!CollarID.isPrefix(text)) }

    @Test("a whole id and longer texts are no prefix", arguments: ["910a2dec89025cc1", "910a2dec89025cc10"])
    func tooLong(text: String) { #expect(!CollarID.isPrefix(text)) }

    @Test("any other character makes it no prefix", arguments: ["910g", "910a ", "-910a", "0x910a", "91 0a", "９１０a", "Zeus"])
    func otherCharacters(text: String) { #expect(!CollarID.isPrefix(text)) }

    @Test("a whole id has exactly 16 hexadecimal digits")
    func wholeID() {
        #expect(CollarID.deviceID("910A2dec89025cc1") == 0x910A_2DEC_8902_5CC1)
        #expect(CollarID.deviceID("910a2dec89025cc") == nil)
        #expect(CollarID.deviceID("910a2dec89025cc1f") == nil)
        #expect(CollarID.deviceID("910a2dec89025ccg") == nil)
    }
}
