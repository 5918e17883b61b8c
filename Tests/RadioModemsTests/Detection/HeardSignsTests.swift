import CollarWire
import Testing

@testable import RadioModems

/// Signs in the bytes of a port, in pieces of any size.
@Suite struct HeardSignsTests {
    private func listen(_ pieces: [[UInt8]]) -> (heard: HeardBytes, signs: [HeardBytes.Sign?]) {
        var heard = HeardBytes()
        let signs = pieces.map { heard.take($0.span) }
        return (heard, signs)
    }

    private func stranger(_ text: String) -> Stranger? { listen([Array(text.utf8)]).heard.stranger }

    @Test(arguments: [
        "rst:0x10 (RTCWDT_RTC_RESET)", "configsip: 0, boot:0x3", "Guru Meditation Error: Core 0 panic'ed", "RAK BOOTLOADER 0.4",
        "ESP-ROM:esp32c3-api1", "ets Jun  8 2016 00:22:57",
    ])
    func eachTextOfAStartIsOne(text: String) {
        let heard = listen([Array("\(text)\r\n".utf8)]).heard
        #expect(heard.isBootText)
        #expect(heard.stranger == .bootloader)
    }

    @Test(arguments: ["barn login: ", "PASSWORD: ", "bash: AT: command not found\r\n", "-sh: AT: not found\r\n"])
    func eachWordOfAConsoleIsOne(text: String) { #expect(stranger(text) == .console) }

    @Test(arguments: ["DEBUG", "INFO", "WARN", "ERROR", "CRIT", "TRACE", "HEAP"]) func eachLevelOfMeshtasticsLogIsOne(level: String) {
        #expect(stranger("\(level) | 12:34:56 4 [Router] x\r\n") == .meshtastic)
        #expect(stranger("\(level)  |  ??:??:?? 4 [Router] x\r\n") == .meshtastic)
    }

    @Test(arguments: [
        "NOTE | 12:34:56 x", "INFO 12:34:56 x", "INFO | 12-34:56 x", "INFO | 12:34-56 x", "INFO | 12:34", "| 12:34:56 x", "abcd", "a\tbcd",
    ])
    func anotherLineIsText(line: String) { #expect(stranger("\(line)\r\n") == .text(line)) }

    @Test(arguments: ["abc", "abcd\u{7F}", "ab\u{1}cd", "été d'été"]) func shortLinesAndOtherBytesAreNoText(line: String) {
        #expect(stranger("\(line)\r\n") == nil)
    }

    @Test func coloursAreNoPartOfAText() {
        #expect(stranger("\u{1B}[1;31mabcd\u{1B}[0m ef\r\n") == .text("abcd ef"))
        #expect(stranger("\u{1B}[2J\u{1B}[Habcd\r\n") == .text("abcd"))
        #expect(listen([Array("\u{1B}[32mOK\u{1B}[0m\r\n".utf8)]).signs == [.commandStatus])
    }

    @Test(arguments: [
        ("$ABC*40", .nmea), ("!ABC*40", .nmea), ("$ABz*79", .nmea), ("$AB*03", .text("$AB*03")), ("#ABC*40", .text("#ABC*40")),
        ("$ABC*400", .text("$ABC*400")), ("$ABC*4", .text("$ABC*4")), ("$ABC40", .text("$ABC40")), ("$ABC*4G", .text("$ABC*4G")),
    ] as [(String, Stranger)])
    func aSentenceHasItsForm(line: String, expected: Stranger) {
        let one = listen([Array("\(line)\r\n".utf8)])
        #expect(one.heard.stranger == expected)
        #expect(one.signs == [nil], "one may be chance")
        let two = listen([Array("\(line)\r\n".utf8), Array("\(line)\r\n".utf8)])
        #expect(two.signs == [nil, expected == .nmea ? .nmea : nil])
    }

    private static let companion: [UInt8] = [0x3E, 8, 0, 13] + [UInt8](repeating: 0x81, count: 7)

    /// The signs of each kind of device, in the order of their precedence.
    private static let samples: [(bytes: [UInt8], stranger: Stranger)] = [
        (Array("\r\n$ABC*40\r\n".utf8), .nmea), ([0x94, 0xC3, 0x81, 0x82], .meshtastic), (companion, .companion),
        (Array("\r\nESP-ROM:esp32\r\n".utf8), .bootloader), (Array("\r\nlogin: \r\n".utf8), .console),
        ([0xC0, 0x01, 0x41, 0xC0], .silentKISS), (Array("\r\nPress any key\r\n".utf8), .text("Press any key")),
        ([0xC0, 0x08, 0x73, 0xC0, 0xC0, 0x06, 0x17, 0xC0], .echo),
    ]

    @Test(arguments: samples.indices) func ofSeveralSignsTheSurerOneCounts(index: Int) {
        let (bytes, expected) = Self.samples[index]
        let weaker = Self.samples[index...].map(\.bytes)
        #expect(weaker.map { listen([$0, bytes]).heard.stranger } == weaker.map { _ in expected })
    }

    @Test func theMarkOfMeshtasticIsTwoBytesInARow() {
        #expect(listen([[0x94], [0xC3]]).heard.stranger == .meshtastic)
        for bytes in [[0x94, 0x81, 0xC3], [0xC3, 0x94], [0xC3]] as [[UInt8]] { #expect(listen([bytes]).heard.stranger == nil, "\(bytes)") }
    }

    @Test func theAnswerOfACompanionCountsOnceItIsWhole() {
        let whole = Self.companion
        #expect(listen([[0x81, 0x3E] + whole]).heard.stranger == .companion)
        #expect(listen(whole.map { [$0] }).heard.stranger == .companion)
        var others: [[UInt8]] = [whole.dropLast(), [0x3E, 7] + whole[2...], [0x3D] + whole[1...]]
        for (index, byte) in [(2, 1), (3, 12)] as [(Int, UInt8)] {
            var other = whole
            other[index] = byte
            others.append(other)
        }
        #expect(others.map { listen([$0]).heard.stranger } == others.map { _ in nil })
    }

    @Test func threeHundredBytesMayBeTheRestOfAFrame() {
        let bytes = [UInt8](repeating: 0x86, count: 301)
        #expect(listen([bytes]).heard.stranger == .bytesWithoutFrames)
        #expect(listen([Array(bytes.dropLast())]).heard.stranger == nil)
    }

    @Test func theFirstBytesOfALongInputAreKept() {
        let bytes = (0..<20_000).map { UInt8(0x80 | $0 & 7) }
        #expect(listen([Array(bytes[..<16_380]), Array(bytes[16_380...])]).heard.bytes == Array(bytes[..<16_384]))
    }

    @Test func theFirstSignOfOneReadCounts() {
        let (kiss, rnode) = ([0xC0, 0x06, 0x97, 0xC0] as [UInt8], [0xC0, 0x08, 0x46, 0xC0] as [UInt8])
        #expect(listen([kiss + rnode]).signs == [.kiss])
        #expect(listen([rnode + kiss]).signs == [.rnode])
        #expect(listen([[0xC0, 0x08, 0x45, 0xC0], [0xC0, 0x55, 0xF7, 0xC0], [0xC0, 0x06, 0x96, 0xC0]]).signs == [nil, nil, nil])
    }
}
