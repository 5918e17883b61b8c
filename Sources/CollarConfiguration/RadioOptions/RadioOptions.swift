import CheckedNumbers
import CollarFormats
import RadioModems

/// Something that a person may choose for a stick. The raw values are the keys of the configuration file, and, after `--`, the
/// names of options.
package enum RadioOption: String, CaseIterable, Sendable {
    /// The protocol that the stick speaks.
    case dialect
    /// The region whose rules the stick obeys.
    case region
    case frequency
    case bandwidth
    case spreadingFactor = "spreading-factor"
    case codingRate = "coding-rate"
    case power = "tx-power"

    /// The frequencies of LoRa radios below 1 GHz, in hertz. Source: data sheet of the SX1276.
    package static let frequencyRange: ClosedRange<Int64> = 137_000_000...1_020_000_000
    /// The bandwidths that LoRa radios below 1 GHz have, in hertz. Source: data sheets of the SX1276 and the SX1262, in the rounded
    /// values that firmware expects.
    package static let bandwidthsHertz: [UInt32] = [7800, 10_400, 15_600, 20_800, 31_250, 41_700, 62_500, 125_000, 250_000, 500_000]
    /// The range of the bandwidths, in hertz.
    package static let bandwidthRange: ClosedRange<UInt32> = 7800...500_000
    /// The spreading factors of LoRa radios.
    package static let spreadingFactorRange: ClosedRange<UInt8> = 5...12
    /// The denominators of the coding rates 4/5 … 4/8.
    package static let codingRateRange: ClosedRange<UInt8> = 5...8
    /// The powers that sticks can be set to, in dBm: from the lowest of the SX1262 to 1 W after an amplifier.
    package static let powerRange: ClosedRange<Int8> = -9...30

    /// The values that the option accepts, in words.
    package var wanted: String {
        switch self {
        case .dialect, .region: words.alternatives
        case .frequency: "a number of MHz from 137 to 1020, such as 868.1, or a whole number of hertz"
        case .bandwidth: "\(RadioOption.bandwidthsHertz.map(RadioText.kilohertz).alternatives) kHz"
        case .spreadingFactor: "a whole number from 5 to 12"
        case .codingRate: "4/5, 4/6, 4/7 or 4/8"
        case .power: "a whole number of dBm from -9 to 30"
        }
    }

    /// The words that the option accepts; none if its values are numbers.
    package var words: [String] {
        switch self {
        case .dialect: Dialect.allCases.map(\.rawValue)
        case .region: Region.all.map(\.name)
        case .frequency, .bandwidth, .spreadingFactor, .codingRate, .power: []
        }
    }
}

/// The place of a choice of the user.
package enum ConfigurationPlace: Hashable, Sendable {
    case commandLine
    /// A line of a configuration file; lines count from 1.
    case file(path: String, line: Int)
}

/// The options of a stick, and the place of each choice. An option that is not chosen is nil.
package struct RadioOptions: Equatable, Sendable {
    package private(set) var dialect: Dialect?
    package private(set) var region: Region?
    package private(set) var frequencyHertz: UInt32?
    package private(set) var bandwidthHertz: UInt32?
    package private(set) var spreadingFactor: UInt8?
    /// Denominator of the coding rate 4/5 … 4/8.
    package private(set) var codingRateDenominator: UInt8?
    package private(set) var powerDBm: Int8?
    package private(set) var places: [RadioOption: ConfigurationPlace] = [:]

    package init() {}

    /// Chooses an option. Nothing changes if this throws.
    package mutating func set(_ option: RadioOption, to text: String, at place: ConfigurationPlace) throws(ConfigurationError) {
        guard take(option, text) else { throw ConfigurationError(.wrongValue(option, text: text), at: place) }
        places[option] = place
    }

    /// - Returns: whether the text is a value of the option.
    private mutating func take(_ option: RadioOption, _ text: String) -> Bool {
        switch option {
        case .dialect: RadioOptions.put(Dialect(rawValue: text), into: &dialect)
        case .region: RadioOptions.put(Region.named(text), into: &region)
        case .frequency: RadioOptions.put(RadioOptions.frequencyHertz(text), into: &frequencyHertz)
        case .bandwidth: RadioOptions.put(RadioOptions.bandwidthHertz(text), into: &bandwidthHertz)
        case .spreadingFactor: RadioOptions.put(UInt8(text, in: RadioOption.spreadingFactorRange), into: &spreadingFactor)
        case .codingRate:
            RadioOptions.put(
                UInt8(text.dropFirst(text.hasPrefix("4/") ? 2 : 0), in: RadioOption.codingRateRange),
                into: &codingRateDenominator)
        case .power: RadioOptions.put(Int8(text, in: RadioOption.powerRange), into: &powerDBm)
        }
    }

    private static func put<Value>(_ value: Value?, into property: inout Value?) -> Bool {
        guard let value else { return false }
        property = value
        return true
    }

    /// These options, and those of `others` that are not chosen here.
    package func over(_ others: RadioOptions) -> RadioOptions {
        var result = self
        result.dialect = dialect ?? others.dialect
        result.region = region ?? others.region
        result.frequencyHertz = frequencyHertz ?? others.frequencyHertz
        result.bandwidthHertz = bandwidthHertz ?? others.bandwidthHertz
        result.spreadingFactor = spreadingFactor ?? others.spreadingFactor
        result.codingRateDenominator = codingRateDenominator ?? others.codingRateDenominator
        result.powerDBm = powerDBm ?? others.powerDBm
        result.places.merge(others.places) { own, _ in own }
        return result
    }

    // Reading of values. All arithmetic is decimal: 868.1 MHz are exactly 868,100,000 Hz.

    /// A frequency: a number of megahertz, or a whole number of hertz.
    private static func frequencyHertz(_ text: String) -> UInt32? {
        guard let number = DecimalNumber(text: text) else { return nil }
        // No number is in the range both as hertz and as megahertz.
        return [6, 0].lazy.compactMap { number.scaled(byPowerOfTen: $0).wholeNumber }
            .first(where: RadioOption.frequencyRange.contains).map(UInt32.init)
    }

    /// A bandwidth: one of the known, in kilohertz or hertz.
    private static func bandwidthHertz(_ text: String) -> UInt32? {
        guard let number = DecimalNumber(text: text) else { return nil }
        let possible = [3, 0].compactMap { number.scaled(byPowerOfTen: $0).wholeNumber }
        return RadioOption.bandwidthsHertz.first { possible.contains(Int64($0)) }
    }
}

/// Values of radios as a person writes them.
package enum RadioText {
    /// A frequency in megahertz, without the unit: 869525000 is "869.525".
    package static func megahertz(_ hertz: UInt32) -> String { DecimalNumber(significand: Int128(hertz), exponent: -6).description }

    /// A bandwidth in kilohertz, without the unit: 62500 is "62.5".
    package static func kilohertz(_ hertz: UInt32) -> String { DecimalNumber(significand: Int128(hertz), exponent: -3).description }

    /// A part in percent, without the unit: 100000 millionths are "10".
    package static func percent(_ partsPerMillion: Int64) -> String {
        DecimalNumber(significand: Int128(partsPerMillion), exponent: -4).description
    }

    /// A time in milliseconds, without the unit.
    package static func milliseconds(_ microseconds: Int64) -> String {
        DecimalNumber(significand: Int128(microseconds), exponent: -3).description
    }
}
