import RadioModems
import Testing

@testable import CollarConfiguration

@Suite("Radio options")
struct RadioOptionsTests {
    private func options(_ option: RadioOption, _ text: String) -> RadioOptions? {
        var options = RadioOptions()
        do throws(ConfigurationError) {
            try options.set(option, to: text, at: .commandLine)
            return options
        } catch {
            #expect(error == ConfigurationError(.wrongValue(option, text: text), at: .commandLine))
            #expect(error.exitCode == .usage)
            #expect(options == RadioOptions())
            return nil
        }
    }

    @Test(
        "a frequency is read exactly, in megahertz or hertz",
        arguments: [
            ("868.1", 868_100_000), ("868100000", 868_100_000), ("868.100000", 868_100_000), ("869.525", 869_525_000),
            ("433.775", 433_775_000), ("910.525001", 910_525_001), ("137", 137_000_000), ("1020", 1_020_000_000),
            ("1020000000", 1_020_000_000), ("868.10000000000000000000", 868_100_000),
        ] as [(String, UInt32)])
    func frequency(text: String, hertz: UInt32) {
        #expect(options(.frequency, text)?.frequencyHertz == hertz)
    }

    /// Many of these numbers are not exact as binary fractions.
    @Test("no frequency with three decimal places is rounded")
    func everyKilohertz() {
        for kilohertz in 860_000...930_000 {
            let fraction = String(1000 + kilohertz % 1000).dropFirst()
            #expect(options(.frequency, "\(kilohertz / 1000).\(fraction)")?.frequencyHertz == UInt32(kilohertz) * 1000)
        }
    }

    @Test(
        "what is no frequency is refused",
        arguments: [
            "", "x", "868,1", "868.1 MHz", "-868.1", "868.1000001", "136.999999", "1020.000001", "868100", "0", "868100000.5",
            "99999999999999999999999999", "-9223372036854775808", "1e400", "0x33", "868..1",
        ])
    func noFrequency(text: String) {
        #expect(options(.frequency, text) == nil)
    }

    @Test(
        "a bandwidth is one that radios have",
        arguments: [
            ("125", 125_000), ("125000", 125_000), ("62.5", 62_500), ("62500", 62_500), ("7.8", 7800), ("7800", 7800),
            ("31.25", 31_250), ("41.70", 41_700), ("500", 500_000), ("500.0", 500_000),
        ] as [(String, UInt32)])
    func bandwidth(text: String, hertz: UInt32) {
        #expect(options(.bandwidth, text)?.bandwidthHertz == hertz)
    }

    @Test("what is no bandwidth is refused", arguments: ["", "126", "7.81", "125k", "-125", "0", "125.0001", "1e9"])
    func noBandwidth(text: String) {
        #expect(options(.bandwidth, text) == nil)
    }

    @Test("small numbers have their ranges")
    func smallNumbers() {
        for value in 0...20 {
            let factor = UInt8(value)
            #expect(options(.spreadingFactor, "\(value)")?.spreadingFactor == ((5...12).contains(value) ? factor : nil))
            let denominator = (5...8).contains(value) ? factor : nil
            #expect(options(.codingRate, "\(value)")?.codingRateDenominator == denominator)
            #expect(options(.codingRate, "4/\(value)")?.codingRateDenominator == denominator)
        }
        for value in -130...130 {
            #expect(options(.power, "\(value)")?.powerDBm == ((-9...30).contains(value) ? Int8(value) : nil))
        }
        for text in ["", "9.0", "nine", "4/", "5/5", "4/4/5", "9 "] {
            for option in [RadioOption.spreadingFactor, .codingRate, .power] { #expect(options(option, text) == nil, "\(text)") }
        }
    }

    @Test("dialects and regions have their names")
    func names() {
        for dialect in Dialect.allCases { #expect(options(.dialect, dialect.rawValue)?.dialect == dialect) }
        for region in Region.all { #expect(options(.region, region.name.lowercased())?.region == region) }
        #expect(options(.dialect, "lora") == nil)
        #expect(options(.region, "EU") == nil)
    }

    @Test("a choice overrides the choices of others, for each option")
    func over() throws {
        let (file, line) = (ConfigurationPlace.file(path: "/c", line: 3), ConfigurationPlace.commandLine)
        var lower = RadioOptions()
        for (option, text) in [
            (RadioOption.dialect, "kiss"), (.region, "EU868"), (.frequency, "868.1"), (.bandwidth, "125"), (.spreadingFactor, "7"),
            (.codingRate, "5"), (.power, "3"),
        ] { try lower.set(option, to: text, at: file) }
        #expect(RadioOptions().over(lower) == lower)
        #expect(lower.over(RadioOptions()) == lower)
        for (option, text) in [
            (RadioOption.dialect, "rnode"), (.region, "US915"), (.frequency, "910.5"), (.bandwidth, "500"),
            (.spreadingFactor, "8"), (.codingRate, "6"), (.power, "4"),
        ] {
            var higher = RadioOptions()
            try higher.set(option, to: text, at: line)
            var expected = lower
            try expected.set(option, to: text, at: line)
            #expect(higher.over(lower) == expected)
            #expect(higher.over(lower) != lower)
            #expect(lower.over(higher) == lower)
        }
    }
}
