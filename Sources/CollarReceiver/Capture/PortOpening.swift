import RadioModems

/// How a port was opened: what the modem at it begins with.
package struct PortOpening: Equatable, Sendable {
    /// When the opening is reported.
    package enum Report: String, Sendable {
        /// At once.
        case now
        /// Never: the port stayed open, and only its modem was set up anew.
        case none
        /// When the first bytes come in.
        case firstBytes = "first-bytes"
    }

    /// When the opening is reported.
    package var report = Report.now
    /// The kind of port.
    package var kind: RadioModem.PortKind
    /// How the stick is used.
    package var modem = ModemConfiguration()
    /// The dialect that was found at the stick before.
    package var remembered: Dialect?
    /// Whether nothing was transmitted in the hour before.
    package var isRested = false
    /// The time that bytes take to the radio's machine and back, in microseconds.
    package var roundTripMicroseconds: Int64 = 0
}

extension PortOpening {
    /// The opening as lines `key=value`. A key without a value is left out.
    var text: String {
        var fields: [(String, String?)] = [
            ("report", report.rawValue), ("kind", kind.rawValue), ("dialect", modem.dialect?.rawValue),
            ("remembered", remembered?.rawValue), ("rested", isRested ? "1" : "0"), ("round_trip_us", "\(roundTripMicroseconds)"),
        ]
        if let settings = modem.settings {
            fields += [
                ("frequency_hz", "\(settings.frequencyHertz)"), ("bandwidth_hz", "\(settings.bandwidthHertz)"),
                ("spreading_factor", "\(settings.spreadingFactor)"), ("coding_rate", "\(settings.codingRateDenominator)"),
                ("power_dbm", "\(settings.powerDBm)"),
            ]
        }
        if let limits = modem.limits {
            fields += [
                ("limited", "1"), ("duty_cycle_ppm", limits.dutyCyclePartsPerMillion.map { "\($0)" }),
                ("dwell_us", limits.dwellMicroseconds.map { "\($0)" }),
            ]
        }
        return fields.compactMap { key, value in value.map { "\(key)=\($0)\n" } }.joined()
    }

    /// - Returns: nil if the kind of port is missing, or a value is wrong.
    init?(_ fields: CaptureFields) {
        guard let kind = fields.text("kind").flatMap(RadioModem.PortKind.init) else { return nil }
        self.init(kind: kind)
        guard let report = Report(rawValue: fields.text("report") ?? Report.now.rawValue) else { return nil }
        self.report = report
        remembered = fields.text("remembered").flatMap(Dialect.init)
        isRested = fields.text("rested") == "1"
        roundTripMicroseconds = fields.number("round_trip_us") ?? 0
        modem.dialect = fields.text("dialect").flatMap(Dialect.init)
        if let frequencyHertz = fields.number("frequency_hz", as: UInt32.self) {
            guard let bandwidthHertz = fields.number("bandwidth_hz", as: UInt32.self),
                let spreadingFactor = fields.number("spreading_factor", as: UInt8.self),
                let denominator = fields.number("coding_rate", as: UInt8.self), let powerDBm = fields.number("power_dbm", as: Int8.self),
                bandwidthHertz > 0, RadioOption.spreadingFactorRange.contains(spreadingFactor),
                RadioOption.codingRateRange.contains(denominator)
            else { return nil }
            modem.settings = RadioSettings(
                frequencyHertz: frequencyHertz, bandwidthHertz: bandwidthHertz, spreadingFactor: spreadingFactor,
                codingRateDenominator: denominator, powerDBm: powerDBm)
        }
        if fields.text("limited") == "1" {
            modem.limits = TransmitLimits(
                dutyCyclePartsPerMillion: fields.number("duty_cycle_ppm"), dwellMicroseconds: fields.number("dwell_us"))
        }
    }
}
