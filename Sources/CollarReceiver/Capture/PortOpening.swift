import CollarConfiguration
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

    /// The longest time in an opening, in microseconds: an hour.
    private static let timeLimit: Int64 = 3_600_000_000

    /// - Throws: ``CaptureFields/Fault`` if the kind of port is missing, or a value is wrong.
    init(_ fields: CaptureFields) throws(CaptureFields.Fault) {
        guard let kind = fields.text("kind").flatMap(RadioModem.PortKind.init) else { throw CaptureFields.Fault() }
        self.init(kind: kind)
        guard let report = Report(rawValue: fields.text("report") ?? Report.now.rawValue) else { throw CaptureFields.Fault() }
        self.report = report
        remembered = fields.text("remembered").flatMap(Dialect.init)
        isRested = fields.text("rested") == "1"
        roundTripMicroseconds = try fields.number("round_trip_us", in: 0...PortOpening.timeLimit) ?? 0
        modem.dialect = fields.text("dialect").flatMap(Dialect.init)
        if let frequencyHertz = try fields.number("frequency_hz", in: 1...UInt32.max) {
            guard let bandwidthHertz = try fields.number("bandwidth_hz", in: RadioOption.bandwidthRange),
                let spreadingFactor = try fields.number("spreading_factor", in: RadioOption.spreadingFactorRange),
                let denominator = try fields.number("coding_rate", in: RadioOption.codingRateRange),
                let powerDBm = try fields.number("power_dbm", in: Int8.min ... .max)
            else { throw CaptureFields.Fault() }
            modem.settings = RadioSettings(
                frequencyHertz: frequencyHertz, bandwidthHertz: bandwidthHertz, spreadingFactor: spreadingFactor,
                codingRateDenominator: denominator, powerDBm: powerDBm)
        }
        if fields.text("limited") == "1" {
            modem.limits = TransmitLimits(
                dutyCyclePartsPerMillion: try fields.number("duty_cycle_ppm", in: 1...1_000_000),
                dwellMicroseconds: try fields.number("dwell_us", in: 0...PortOpening.timeLimit))
        }
    }
}
