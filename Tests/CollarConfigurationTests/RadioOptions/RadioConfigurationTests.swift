import CollarPorts
import Glibc
import RadioModems
import Testing

@testable import CollarConfiguration
@testable import SerialDevices

@Suite("Radio configuration")
struct RadioConfigurationTests {
    /// A configuration from the options of a command line and the texts of files, the user's before the machine's.
    private func configuration(
        _ commandLine: [RadioOption: String] = [:], _ files: String...
    ) throws(ConfigurationError) -> RadioConfiguration {
        var options = RadioOptions()
        for (option, text) in commandLine { try options.set(option, to: text, at: .commandLine) }
        var read: [ConfigurationFile] = []
        for (index, text) in files.enumerated() { read.append(try ConfigurationFile(Array(text.utf8), path: "/\(index)")) }
        return try RadioConfiguration(commandLine: options, files: read)
    }

    private func device(node: String = "/dev/ttyUSB0", serial: String? = nil, idPath: String? = nil) -> SerialDevice {
        SerialDevice(
            node: node, sysPath: "/sys/x",
            property: { ["ID_BUS": "usb", "ID_SERIAL_SHORT": serial, "ID_PATH": idPath][$0] ?? nil }, usbAttribute: { _ in nil },
            parentDriver: { nil })
    }

    private func settings(_ frequencyHertz: UInt32, spreadingFactor: UInt8 = 9, powerDBm: Int8 = 14) -> RadioSettings {
        RadioSettings(
            frequencyHertz: frequencyHertz, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: powerDBm)
    }

    @Test("nothing is chosen: no dialect, no settings, no limits")
    func nothing() throws {
        #expect(RadioConfiguration().modem(path: "/dev/ttyUSB0", device: nil) == ModemConfiguration())
        #expect(try configuration() == RadioConfiguration())
    }

    @Test("a region gives the settings and the limits")
    func region() throws {
        let modem = try configuration([.region: "eu868"]).modem(path: "/dev/ttyUSB0", device: nil)
        #expect(
            modem
                == ModemConfiguration(
                    settings: settings(869_525_000), limits: TransmitLimits(dutyCyclePartsPerMillion: 100_000), region: Region.named("EU868")))
    }

    @Test("without a region nothing may be transmitted, and what is received must be chosen")
    func noRegion() throws {
        let little = try configuration([.dialect: "rnode", .frequency: "868.1", .spreadingFactor: "7"])
        #expect(little.modem(path: "/x", device: nil) == ModemConfiguration(dialect: .rnode))
        let enough = try configuration(
            [.dialect: "rnode", .bandwidth: "125"], "frequency = 868.1\n[stick path=/x]\nspreading-factor = 7")
        #expect(
            enough.modem(path: "/x", device: nil)
                == ModemConfiguration(dialect: .rnode, settings: settings(868_100_000, spreadingFactor: 7, powerDBm: 10)))
        #expect(enough.modem(path: "/y", device: nil) == ModemConfiguration(dialect: .rnode))
    }

    @Test("the command line, then the section, then the keys for all decide; the user's file before the machine's")
    func precedence() throws {
        let users = "spreading-factor = 8\n[stick serial=A]\nspreading-factor = 7\ncoding-rate = 6"
        let machines = "region = EU868\ntx-power = 5\ncoding-rate = 7\n[stick serial=A]\nspreading-factor = 12\ntx-power = 6"
        let both = try configuration([:], users, machines)
        let marked = try #require(both.modem(path: "/dev/ttyUSB0", device: device(serial: "A")).settings)
        #expect((marked.spreadingFactor, marked.codingRateDenominator, marked.powerDBm) == (7, 6, 6))
        let other = try #require(both.modem(path: "/dev/ttyUSB0", device: device(serial: "B")).settings)
        #expect((other.spreadingFactor, other.codingRateDenominator, other.powerDBm) == (8, 7, 5))
        let typed = try configuration([.spreadingFactor: "10", .power: "1"], users, machines)
        let all = [device(serial: "A"), device(serial: "B")].map { typed.modem(path: "/dev/ttyUSB0", device: $0).settings }
        #expect(all.map(\.?.spreadingFactor) == [10, 10])
        #expect(all.map(\.?.powerDBm) == [1, 1])
    }

    @Test("a stick has one section: by its serial number, else its socket, else its path")
    func names() throws {
        let configuration = try configuration(
            [:],
            """
            [stick path=/dev/ttyUSB0]
            dialect = serial
            [stick id-path=pci-1]
            dialect = kiss
            [stick serial=A]
            dialect = rnode
            [stick port=tcp://host:4001]
            dialect = rui3
            """)
        func dialect(_ path: String, _ device: SerialDevice?) -> Dialect? { configuration.modem(path: path, device: device).dialect }
        #expect(dialect("/dev/ttyUSB0", device(serial: "A", idPath: "pci-1")) == .rnode)
        #expect(dialect("/dev/ttyUSB0", device(serial: "B", idPath: "pci-1")) == .kiss)
        #expect(dialect("/dev/ttyUSB0", device(serial: "B", idPath: "pci-2")) == .serial)
        #expect(dialect("/dev/ttyUSB0", nil) == .serial)
        #expect(dialect("/dev/ttyUSB1", device(node: "/dev/ttyUSB1")) == nil)
        #expect(dialect("tcp://host:4001", nil) == .rui3)
        #expect(dialect("tcp://host:4002", nil) == nil)
    }

    @Test("a path in the file may be a symbolic link to the port, and the other way round")
    func links() throws {
        let link = "/tmp/collar-link-test-\(getpid())-stick"
        unsafe unlink(link)
        try #require(unsafe symlink("/dev/null", link) == 0)
        defer { unsafe unlink(link) }
        let byLink = try configuration([:], "[stick path=\(link)]\ndialect = kiss\n[stick path=/dev/zero]\ndialect = rnode")
        #expect(byLink.modem(path: "/dev/null", device: nil).dialect == .kiss)
        #expect(byLink.modem(path: "/elsewhere", device: device(node: "/dev/null")).dialect == .kiss)
        #expect(byLink.modem(path: "/dev/full", device: nil).dialect == nil)
        #expect(try configuration([:], "[stick path=/dev/null]\ndialect = kiss").modem(path: link, device: nil).dialect == .kiss)
    }

    @Test(
        "settings that break a rule are an error where the option at fault was chosen",
        arguments: [
            ("region = EU868\nfrequency = 868.65", 2, "frequency breaks a rule of the region: EU868 has no room for a channel of 125 kHz at 868.65 MHz; the whole channel must be within 863–865, 865–868, 868–868.6, 868.7–869.2, 869.4–869.65, 869.7–870 MHz"),
            ("bandwidth = 500\nregion = EU868", 1, "bandwidth breaks a rule of the region: EU868 has no room for a channel of 500 kHz at 869.525 MHz"),
            ("region = EU868\nfrequency = 868.1\ntx-power = 15", 3, "tx-power breaks a rule of the region: EU868 allows at most 14 dBm at 868.1 MHz, and this is 15"),
            ("tx-power = 20\n[stick serial=A]\nregion = EU868", 1, "tx-power breaks a rule of the region: EU868 allows at most 14 dBm"),
            ("region = US915\nspreading-factor = 12", 2, "spreading-factor breaks a rule of the region: US915 allows 400 ms for a frame, and with spreading factor 12, 125 kHz and 4/5 a frame of 51 bytes takes"),
            ("spreading-factor = 10\nregion = EU868\n[stick serial=A]\nregion = AU915", 1, "spreading-factor breaks a rule of the region: AU915 allows 400 ms"),
        ])
    func rules(text: String, line: Int, says: String) throws {
        // 20 dBm are allowed at the default frequency of EU868, so the fourth text needs another one.
        let commandLine: [RadioOption: String] = text.hasPrefix("tx-power = 20") ? [.frequency: "868.1"] : [:]
        let error = try #require(throws: ConfigurationError.self) { try configuration(commandLine, text) }
        #expect(error.message.reason.hasPrefix("/0, line \(line): \(says)"), "\(error.message.reason)")
        #expect(error.exitCode == .configuration)
    }

    @Test("an option of the command line at fault is named as an option")
    func rulesOfTheCommandLine() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try configuration([.frequency: "869.3"], "region = EU868")
        }
        #expect(error.message.reason.hasPrefix("`--frequency` breaks a rule of the region: EU868 has no room"))
        #expect(error.exitCode == .usage)
    }

    @Test("a power that nobody chose follows the band")
    func powerOfTheBand() throws {
        let lower = try configuration([.region: "KR920", .frequency: "921.5"]).modem(path: "/x", device: nil)
        #expect(lower.settings?.powerDBm == 7)
        let upper = try configuration([.region: "KR920", .frequency: "923.1"]).modem(path: "/x", device: nil)
        #expect(upper.settings?.powerDBm == 11)
    }
}

extension RadioConfiguration {
    fileprivate func modem(path: String, device: SerialDevice?) -> ModemConfiguration {
        modem(path: path, serialNumber: device?.serialShort, idPath: device?.idPath, node: device?.node)
    }
}
