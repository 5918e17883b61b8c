import CollarARQ
import CollarWire

/// The settings of a stick's LoRa radio that a person chooses. Both ends of a link must have the same, except for the power.
package struct RadioSettings: Equatable, Sendable {
    package var frequencyHertz: UInt32
    /// Bandwidth, in hertz; not 0.
    package var bandwidthHertz: UInt32
    /// Spreading factor, 5 … 12.
    package var spreadingFactor: UInt8
    /// Denominator of the coding rate 4/5 … 4/8: 5 … 8.
    package var codingRateDenominator: UInt8
    package var powerDBm: Int8

    package init(
        frequencyHertz: UInt32, bandwidthHertz: UInt32, spreadingFactor: UInt8, codingRateDenominator: UInt8, powerDBm: Int8
    ) {
        self.frequencyHertz = frequencyHertz
        self.bandwidthHertz = bandwidthHertz
        self.spreadingFactor = spreadingFactor
        self.codingRateDenominator = codingRateDenominator
        self.powerDBm = powerDBm
    }

    package init(_ settings: LoRaSettings) {
        self.init(
            frequencyHertz: settings.frequencyHertz, bandwidthHertz: settings.bandwidthHertz, spreadingFactor: settings.spreadingFactor,
            codingRateDenominator: settings.codingRateDenominator, powerDBm: settings.powerDBm)
    }

    package var symbolMicroseconds: Int64 { (1_000_000 << Int64(spreadingFactor)) / Int64(max(1, bandwidthHertz)) }

    /// The timing of a link with these settings through a stick of this dialect.
    ///
    /// Both ends use LoRa's explicit header and CRC, and low data rate optimisation from symbols of 16 ms on.
    package func profile(of dialect: Dialect) -> ModemProfile {
        ModemProfile(
            lora: LoRaSettings(
                frequencyHertz: frequencyHertz, bandwidthHertz: max(1, bandwidthHertz), spreadingFactor: spreadingFactor,
                codingRateDenominator: codingRateDenominator, preambleSymbols: preambleSymbols(of: dialect),
                hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: symbolMicroseconds >= 16_000,
                powerDBm: powerDBm),
            turnaroundMicroseconds: turnaroundMicroseconds(of: dialect),
            modemHeaderByteCount: dialect == .rnode ? 1 : 0)
    }

    /// Symbols of the preamble where nothing demands more.
    static let ordinaryPreambleSymbols: UInt16 = 8

    /// Symbols of the preamble that sticks of this dialect send. MeshCore's firmware sends 32 up to spreading factor 8 and 16
    /// above.
    private func preambleSymbols(of dialect: Dialect) -> UInt16 {
        switch dialect {
        case .kiss: spreadingFactor <= 8 ? 32 : 16
        case .rnode: RNodeTiming(self).preambleSymbols
        case .serial, .rui3: RadioSettings.ordinaryPreambleSymbols
        }
    }

    /// The longest time from the end of a poll to the start of its answer through a stick of this dialect, in microseconds: the
    /// stick's line in both directions, storing the fixes, and the stick's wait for a free channel.
    package func turnaroundMicroseconds(of dialect: Dialect) -> Int64 {
        switch dialect {
        case .serial: RadioSettings.lineMicroseconds
        case .kiss: 100_000
        // Commands of text have twice as many bytes as the frame, and the stick leaves reception before it sends.
        case .rui3: 200_000
        case .rnode: turnaroundMicroseconds(waiting: RNodeTiming(self).longestWait(slots: RNodeTiming.usualSlots))
        }
    }

    /// The timing of a collar whose radio is a stick of this dialect, as the stick of its host is.
    ///
    /// The host's stick waits for a free channel before it sends the answer. An RNode does not report when it has sent, so its own wait
    /// before the poll counts as well.
    package func profile(ofCollarWith dialect: Dialect) -> ModemProfile {
        var profile = profile(of: dialect)
        profile.turnaroundMicroseconds += RadioSettings.lineMicroseconds
        if dialect == .rnode { profile.turnaroundMicroseconds += RNodeTiming(self).longestWait(slots: RNodeTiming.usualSlots) }
        return profile
    }

    /// Time for a line in both directions, and for storing fixes, in microseconds.
    private static let lineMicroseconds: Int64 = 50_000

    /// The turnaround of a stick that waits at most this long for a free channel, in microseconds: in steps of 100 ms, as a person types
    /// it.
    func turnaroundMicroseconds(waiting microseconds: Int64) -> Int64 {
        let longest = microseconds + RadioSettings.lineMicroseconds + 2 * symbolMicroseconds
        return (longest + 99_999) / 100_000 * 100_000
    }
}
