import RadioModems
import Testing

@testable import CollarConfiguration

/// Where each option of a stick is chosen: every option by itself, at every pair of places.
@Suite("Places of options") struct OptionPlacesTests {
    /// The places, the first of which decides: the command line, then the section and the keys for all of the user's file, then
    /// those of the machine's file.
    private enum Place: Int, CaseIterable {
        case commandLine, usersSection, users, machinesSection, machines
    }

    /// Two values of each option that no rule of a region forbids.
    private static let values: [(RadioOption, String, String)] = [
        (.dialect, "kiss", "rnode"), (.region, "EU868", "RU864"), (.frequency, "868.1", "868.3"), (.bandwidth, "62.5", "125"),
        (.spreadingFactor, "7", "8"), (.codingRate, "4/6", "4/7"), (.power, "3", "4"),
    ]

    /// The configuration of the stick A, and that of any other stick.
    private func modems(
        _ choices: [(Place, RadioOption, String)]
    ) throws -> (named: ModemConfiguration, other: ModemConfiguration) {
        var commandLine = RadioOptions()
        var texts: [Place: String] = [:]
        for (place, option, text) in choices {
            if place == .commandLine {
                try commandLine.set(option, to: text, at: .commandLine)
            } else {
                texts[place, default: ""] += "\(option.rawValue) = \(text)\n"
            }
        }
        func file(_ general: Place, _ section: Place, path: String) throws -> ConfigurationFile {
            let text = (texts[general] ?? "") + (texts[section].map { "[stick serial=A]\n\($0)" } ?? "")
            return try ConfigurationFile(Array(text.utf8), path: path)
        }
        let files = [try file(.users, .usersSection, path: "/u"), try file(.machines, .machinesSection, path: "/m")]
        let configuration = try RadioConfiguration(commandLine: commandLine, files: files)
        func modem(_ serial: String) -> ModemConfiguration {
            configuration.modem(path: "/dev/ttyUSB0", serialNumber: serial, idPath: nil, node: nil)
        }
        return (modem("A"), modem("B"))
    }

    /// A region for the options that need one.
    private func needed(_ option: RadioOption) -> [(Place, RadioOption, String)] {
        option == .region ? [] : [(.machines, .region, "EU868")]
    }

    @Test(arguments: 0..<7) func theFirstOfTwoPlacesDecides(index: Int) throws {
        let (option, one, two) = OptionPlacesTests.values[index]
        for first in Place.allCases {
            for second in Place.allCases where first.rawValue < second.rawValue {
                let both = try modems(needed(option) + [(first, option, one), (second, option, two)]).named
                let alone = try modems(needed(option) + [(first, option, one)]).named
                #expect(both == alone, "\(option) at \(first) and \(second)")
                #expect(try modems(needed(option) + [(second, option, two)]).named != alone)
            }
        }
    }

    @Test(arguments: 0..<7) func aSectionIsForItsStickOnly(index: Int) throws {
        let (option, one, two) = OptionPlacesTests.values[index]
        for place in [Place.usersSection, .machinesSection] {
            let both = try modems(needed(option) + [(.machines, option, two), (place, option, one)])
            #expect(both.named == (try modems(needed(option) + [(.commandLine, option, one)]).named))
            #expect(both.other == (try modems(needed(option) + [(.machines, option, two)]).other))
        }
    }

    @Test func allOptionsTogetherAreEachKept() throws {
        let choices = OptionPlacesTests.values.map { (Place.users, $0.0, $0.1) }
        let modem = try modems(choices).other
        #expect(modem.dialect == .kiss)
        #expect(
            modem.settings
                == RadioSettings(
                    frequencyHertz: 868_100_000, bandwidthHertz: 62_500, spreadingFactor: 7, codingRateDenominator: 6, powerDBm: 3))
        #expect(modem.limits != ModemConfiguration().limits)
    }

    @Test func sectionsOfBothFilesAreEachFound() throws {
        let users = try ConfigurationFile(
            Array("[stick serial=A]\ndialect = kiss\n[stick path=/dev/null]\ndialect = rui3".utf8), path: "/u")
        let machines = try ConfigurationFile(
            Array("[stick serial=B]\ndialect = rnode\n[stick serial=A]\ndialect = serial".utf8), path: "/m")
        let configuration = try RadioConfiguration(commandLine: RadioOptions(), files: [users, machines])
        func dialect(_ serial: String?, _ path: String = "/x") -> Dialect? {
            configuration.modem(path: path, serialNumber: serial, idPath: nil, node: nil).dialect
        }
        #expect([dialect("A"), dialect("B"), dialect("C"), dialect(nil, "/dev/null")] == [.kiss, .rnode, nil, .rui3])
    }

    /// The place at which the option at fault was chosen is told, not another one of the same option.
    @Test func aFaultIsToldWhereTheOptionThatCountsWasChosen() throws {
        func place(_ choices: [(Place, RadioOption, String)]) -> ConfigurationPlace? {
            do {
                _ = try modems([(.machines, .region, "EU868")] + choices)
                return nil
            } catch { return (error as? ConfigurationError)?.place }
        }
        #expect(place([(.machines, .frequency, "868.1"), (.users, .frequency, "868.65")]) == .file(path: "/u", line: 1))
        #expect(place([(.machines, .frequency, "868.65"), (.users, .frequency, "868.1")]) == nil)
        #expect(place([(.machines, .frequency, "868.1"), (.commandLine, .frequency, "868.65")]) == .commandLine)
        #expect(place([(.machines, .frequency, "868.65")]) == .file(path: "/m", line: 2))
        #expect(place([(.machines, .frequency, "868.1"), (.machinesSection, .frequency, "868.65")]) == .file(path: "/m", line: 4))
        #expect(place([(.users, .frequency, "868.1"), (.machines, .power, "15")]) == .file(path: "/m", line: 2))
    }
}
