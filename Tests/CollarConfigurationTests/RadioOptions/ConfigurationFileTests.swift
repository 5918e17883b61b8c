import RadioModems
import Testing

@testable import CollarConfiguration

@Suite("Configuration file")
struct ConfigurationFileTests {
    private func read(_ text: String) throws(ConfigurationError) -> ConfigurationFile {
        try ConfigurationFile(Array(text.utf8), path: "/c")
    }

    @Test("keys before the first section hold for every stick, and a section for one")
    func sections() throws {
        let file = try read(
            """
            # the radios of the house
            region = eu868   # a comment
            \ttx-power=10\r

            [stick serial=0123456789]
            dialect = kiss
            frequency = 868.1
            [ stick\tid-path = pci-0000:00:14.0-usb-0:2:1.0 ]
            dialect=rnode
            [stick path=/dev/ttyUSB0]
            [stick port=tcp://[::1]:4001]
            coding-rate = 4/7
            """)
        #expect(file.general.region?.name == "EU868")
        #expect(file.general.powerDBm == 10)
        #expect(file.general.dialect == nil)
        #expect(
            file.sections.map(\.name) == [
                .serial("0123456789"), .idPath("pci-0000:00:14.0-usb-0:2:1.0"), .path("/dev/ttyUSB0"), .port("tcp://[::1]:4001"),
            ])
        #expect(file.sections.map(\.line) == [5, 8, 10, 11])
        #expect(file.sections[0].options.dialect == .kiss)
        #expect(file.sections[0].options.frequencyHertz == 868_100_000)
        #expect(file.sections[1].options.dialect == .rnode)
        #expect(file.sections[2].options == RadioOptions())
        #expect(file.sections[3].options.codingRateDenominator == 7)
    }

    @Test("a file without a word chooses nothing", arguments: ["", "\n", "# only a comment", "  \t\r\n#\n"])
    func empty(text: String) throws {
        #expect(try read(text) == ConfigurationFile())
    }

    @Test("a # within a word is no comment")
    func numberSign() throws {
        #expect(try read("[stick serial=A#1] # mine").sections.first?.name == .serial("A#1"))
    }

    @Test(
        "an error names the line, what is wrong, and what is allowed",
        arguments: [
            ("frequncy = 868.1", 1, "there is no key 'frequncy'; keys are: dialect, region, frequency, bandwidth"),
            ("\n\nregion EU868", 3, "'region EU868' is neither 'key = value' nor [stick serial="),
            ("region = EU868\nregion = US915", 2, "region has a value already, from line 1"),
            ("[stick serial=A]\nregion = EU868\n\nregion = EU868", 4, "region has a value already, from line 2"),
            ("[stick serial=A]\n[stick serial=B]\n[stick serial=A]", 3, "is there already, at line 1"),
            ("[radio]", 1, "'[radio]' is not a section: a section is [stick serial=NUMBER], [stick id-path=PATH]"),
            ("[stick serial=]", 1, "not a section"), ("[stick serial=A", 1, "not a section"), ("[stickserial=A]", 1, "not a section"),
            ("[stick path=ttyUSB0]", 1, "not a section"), ("[stick port=host:4001]", 1, "not a section"),
            ("[stick port=tcp://host]", 1, "not a section"), ("[stick port=tcp://host:0]", 1, "not a section"),
            ("[stick port=tcp://:4001]", 1, "not a section"), ("[stick name=A]", 1, "not a section"),
            ("dialect = KISS", 1, "dialect takes serial, kiss, rnode or rui3, not 'KISS'."),
            ("region = EU", 1, "region takes EU868, EU433, US915, AU915, AS923, IN865, KR920, RU864 or CN470, not 'EU'."),
            ("frequency =", 1, "frequency takes a number of MHz from 137 to 1020"),
            ("frequency = 868,1", 1, "or a whole number of hertz, not '868,1'."),
            ("bandwidth = 100", 1, "bandwidth takes 7.8, 10.4, 15.6, 20.8, 31.25, 41.7, 62.5, 125, 250 or 500 kHz"),
            ("spreading-factor = 13", 1, "spreading-factor takes a whole number from 5 to 12, not '13'."),
            ("coding-rate = 4/9", 1, "coding-rate takes 4/5, 4/6, 4/7 or 4/8, not '4/9'."),
            ("tx-power = 31", 1, "tx-power takes a whole number of dBm from -9 to 30, not '31'."),
        ])
    func errors(text: String, line: Int, says: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try read(text) }
        #expect(error.place == .file(path: "/c", line: line))
        #expect(error.message.reason.hasPrefix("/c, line \(line): "))
        #expect(error.message.reason.contains(says), "\(error.message.reason)")
        #expect(error.exitCode == .configuration)
    }

    @Test("bytes that are not UTF-8 are an error of their line")
    func notText() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try ConfigurationFile(Array("region = EU868\ndialect = ".utf8) + [0xFF], path: "/c")
        }
        #expect(error == ConfigurationError(.notText, at: .file(path: "/c", line: 2)))
        #expect(error.message.reason == "/c, line 2: the line is not UTF-8.")
    }

    @Test("a file that is too long is not read")
    func tooLong() throws {
        let comments = [UInt8](repeating: UInt8(ascii: "#"), count: ConfigurationFile.byteLimit)
        _ = try ConfigurationFile(comments, path: "/c")
        let error = try #require(throws: ConfigurationError.self) {
            try ConfigurationFile(comments + comments.prefix(1), path: "/c")
        }
        #expect(error.message.reason.contains("65536 bytes"))
    }
}
