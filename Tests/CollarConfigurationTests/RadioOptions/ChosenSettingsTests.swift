import RadioModems
import Testing

@testable import CollarConfiguration

/// Choices of a radio without a region, with several errors, and in several sections.
@Suite struct ChosenSettingsTests {
    private func configuration(_ text: String) throws(ConfigurationError) -> RadioConfiguration {
        try RadioConfiguration(commandLine: RadioOptions(), files: [try ConfigurationFile(Array(text.utf8), path: "/c")])
    }

    private func modem(_ configuration: RadioConfiguration, serial: String? = nil) -> ModemConfiguration {
        configuration.modem(path: "/dev/ttyUSB0", serialNumber: serial, idPath: nil, node: nil)
    }

    /// The line and the option at fault.
    private func fault(_ text: String) -> (line: Int, option: RadioOption)? {
        do throws(ConfigurationError) { _ = try configuration(text) } catch {
            if case .region(_, let option) = error.problem, case .file(_, let line) = error.place { return (line, option) }
        }
        return nil
    }

    @Test(arguments: ["frequency = 868.1", "bandwidth = 125", "spreading-factor = 7"])
    func aListenerNeedsEachOfThree(left: String) throws {
        let needed = ["frequency = 868.1", "bandwidth = 125", "spreading-factor = 7"]
        let others = ["dialect = kiss", "coding-rate = 4/8", "tx-power = 20"]
        #expect(
            try modem(configuration((needed + others).joined(separator: "\n")))
                == ModemConfiguration(
                    dialect: .kiss,
                    settings: RadioSettings(
                        frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 8, powerDBm: 20)))
        #expect(
            try modem(configuration((needed.filter { $0 != left } + others).joined(separator: "\n"))) == ModemConfiguration(dialect: .kiss))
    }

    @Test(arguments: [
        ("region = EU868\nbandwidth = 500\nfrequency = 869.525", 3, .frequency), ("region = EU868\nbandwidth = 500", 2, .bandwidth),
        ("region = US915\nbandwidth = 31.25", 2, .bandwidth),
        ("region = US915\nbandwidth = 31.25\nspreading-factor = 8", 3, .spreadingFactor),
        ("region = US915\ncoding-rate = 4/8\nbandwidth = 31.25", 3, .bandwidth),
        ("region = EU868\ntx-power = 15\nfrequency = 868.1", 2, .power), ("region = US915\ntx-power = 22", 2, .power),
        ("region = EU868\n[stick serial=A]\nfrequency = 868.1\n[stick serial=B]\nfrequency = 868.65", 5, .frequency),
        ("region = EU868\nfrequency = 868.65\n[stick serial=A]\nfrequency = 868.1", 2, .frequency),
    ] as [(String, Int, RadioOption)])
    func theFirstChoiceThatMattersIsAtFault(text: String, line: Int, option: RadioOption) {
        let fault = fault(text)
        #expect(fault?.line == line && fault?.option == option, "\(String(describing: fault))")
    }

    @Test func thePowerFollowsTheBandOfEachStick() throws {
        let text = """
            region = KR920
            [stick serial=A]
            frequency = 921.5
            [stick serial=B]
            frequency = 921.5
            tx-power = 3
            [stick serial=C]
            region = EU868
            """
        let configuration = try configuration(text)
        #expect([nil, "A", "B", "C"].map { modem(configuration, serial: $0).settings?.powerDBm } == [11, 7, 3, 14])
        let limits = try [Region.named("KR920"), .named("EU868")].map { region in
            let region = try #require(region)
            return try region.limits(for: region.defaults)
        }
        #expect(modem(configuration).limits == limits[0] && modem(configuration, serial: "C").limits == limits[1])
    }

    @Test(arguments: [
        ("tcp://host:65535", true), ("tcp://host:65536", false), ("tcp://host:1", true), ("tcp://host:4001x", false),
        ("tcp://host:-1", false), ("tcp://host:", false), ("udp://host:4001", false), ("tcp://[fe80::1]:4001", true),
        ("/dev/ttyUSB0", false),
    ])
    func aPortOfTheNetworkHasAHostAndANumber(text: String, isPort: Bool) {
        #expect(StickName(section: "[stick port=\(text)]") == (isPort ? .port(text) : nil))
    }

    @Test(arguments: [
        ("frequncy = 868.1", "frequency"), ("tx-powr = 3", "tx-power"), ("region = EU86", "EU868"), ("dialect = KISS", "kiss"),
        ("[stick serial=A]\ndialect = rnod", "rnode"),
    ])
    func aWordThatIsNearlyRightIsGuessed(text: String, word: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.message.reason.hasSuffix(" Did you mean \(word)?"), "\(error.message.reason)")
    }

    @Test func valuesAreWrittenWithoutTrailingZeros() {
        #expect([869_525_000, 868_000_000, 433_050_001].map(RadioText.megahertz) == ["869.525", "868", "433.050001"])
        #expect([62_500, 125_000, 7800].map(RadioText.kilohertz) == ["62.5", "125", "7.8"])
        #expect([400_000, 1_500, 7].map(RadioText.milliseconds) == ["400", "1.5", "0.007"])
    }
}
