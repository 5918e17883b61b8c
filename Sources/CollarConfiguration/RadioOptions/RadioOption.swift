import RadioModems

/// Something that a person may choose for a stick. The raw values are the keys of the configuration file, and, after `--`, the
/// names of options.
package enum RadioOption: String, CaseIterable, Sendable {
    /// The protocol that the stick speaks.
    case dialect
    /// The region whose rules the stick obeys.
    case region
    /// The carrier frequency.
    case frequency
    /// The bandwidth.
    case bandwidth
    /// The spreading factor.
    case spreadingFactor = "spreading-factor"
    /// The coding rate.
    case codingRate = "coding-rate"
    /// The transmit power.
    case power = "tx-power"
}

extension RadioOption {
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
    /// The powers that sticks can be set to, in dBm: from the lowest of the SX1262 to 1 W behind an amplifier.
    package static let powerRange: ClosedRange<Int8> = -9...30

    /// The values that the option accepts, in words.
    package var wanted: String {
        switch self {
        case .dialect: RadioOption.alternatives(words)
        case .region: RadioOption.alternatives(words)
        case .frequency: "a number of MHz from 137 to 1020, such as 868.1, or a whole number of hertz"
        case .bandwidth: "\(RadioOption.alternatives(RadioOption.bandwidthsHertz.map(RadioText.kilohertz))) kHz"
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

    /// `a, b or c`.
    private static func alternatives(_ words: [String]) -> String {
        words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    }
}
