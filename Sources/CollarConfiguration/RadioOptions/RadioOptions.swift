import CheckedNumbers
import CollarFormats
import RadioModems

/// The place of a choice of the user.
package enum ConfigurationPlace: Hashable, Sendable {
    /// An option of the command line.
    case commandLine
    /// A line of a configuration file; lines count from 1.
    case file(path: String, line: Int)
}

/// The options of a stick, and the place of each choice. An option that is not chosen is nil.
package struct RadioOptions: Equatable, Sendable {
    package private(set) var dialect: Dialect?
    package private(set) var region: Region?
    /// In hertz.
    package private(set) var frequencyHertz: UInt32?
    /// In hertz.
    package private(set) var bandwidthHertz: UInt32?
    package private(set) var spreadingFactor: UInt8?
    /// Denominator of the coding rate 4/5 … 4/8.
    package private(set) var codingRateDenominator: UInt8?
    /// In dBm.
    package private(set) var powerDBm: Int8?
    /// Where each option was chosen.
    package private(set) var places: [RadioOption: ConfigurationPlace] = [:]

    /// Options of which none is chosen.
    package init() {}

    /// Chooses an option. Nothing changes if this throws.
    /// - Parameter text: the value as a person has written it.
    /// - Throws: ``ConfigurationError/Problem/wrongValue(_:text:)``
    package mutating func set(
        _ option: RadioOption, to text: String, at place: ConfigurationPlace
    ) throws(ConfigurationError) {
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
        case .spreadingFactor:
            RadioOptions.put(UInt8(text, in: RadioOption.spreadingFactorRange), into: &spreadingFactor)
        case .codingRate:
            RadioOptions.put(
                UInt8(text.hasPrefix("4/") ? String(text.dropFirst(2)) : text, in: RadioOption.codingRateRange),
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
}

/// Reading of values. All arithmetic is decimal: 868.1 MHz are exactly 868,100,000 Hz.
extension RadioOptions {
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
