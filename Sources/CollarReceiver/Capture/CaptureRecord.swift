import CheckedNumbers
import CollarConfiguration
import CollarJournal
import RadioModems

/// Something that happened at a port of a receiver, as a capture holds it: see `Protocol/CAPTURE.md`.
package struct CaptureRecord: Equatable, Sendable {
    /// When it happened. Only differences between the instants of one capture have a meaning.
    package var time: HostTime
    /// Records in a row with the same number were handled together, before lines were written.
    package var round: UInt16 = 0
    /// The path of the port, or `tcp://HOST:PORT`.
    package var port: String
    package var event: CaptureEvent
}

package enum CaptureEvent: Equatable, Sendable {
    /// A receiver with this id began. It has no port open.
    case began(receiverID: UInt32)
    /// The port was opened, or its modem was set up again.
    case opened(PortOpening)
    case read([UInt8])
    /// The port took these bytes of the receiver.
    case wrote([UInt8])
    case closed
    /// The radio went away while the port was open.
    case unplugged
    /// udev reports a radio; the text describes it.
    case plugged(device: String)
    /// udev reports that a device is gone.
    case removed
    case ended
    /// The stick at the port speaks this dialect.
    case found(Dialect)
    /// The receiver did what was due.
    case due

    /// The event's number in a record. The numbers never change.
    enum Code: UInt8 {
        case began = 0, opened, read, wrote, closed, unplugged, plugged, removed, ended, found, due
    }

    /// The event's number, and the bytes after the fixed part of its record.
    var encoded: (code: Code, content: [UInt8]) {
        switch self {
        case .began(let receiverID): (.began, Array("receiver=\(receiverID)\n".utf8))
        case .opened(let opening): (.opened, Array(opening.text.utf8))
        case .read(let bytes): (.read, bytes)
        case .wrote(let bytes): (.wrote, bytes)
        case .closed: (.closed, [])
        case .unplugged: (.unplugged, [])
        case .plugged(let device): (.plugged, Array(device.utf8))
        case .removed: (.removed, [])
        case .ended: (.ended, [])
        case .found(let dialect): (.found, Array("dialect=\(dialect.rawValue)\n".utf8))
        case .due: (.due, [])
        }
    }

    /// The event with a number and the bytes after the fixed part of its record.
    init(_ code: Code, content: [UInt8]) throws(CaptureFields.Fault) {
        switch code {
        case .read: self = .read(content)
        case .wrote: self = .wrote(content)
        case .began:
            let fields = CaptureFields(content)
            guard let receiverID = try fields.number("receiver", in: 0...UInt32.max) else { throw CaptureFields.Fault() }
            self = .began(receiverID: receiverID)
        case .opened:
            self = .opened(try PortOpening(CaptureFields(content)))
        case .plugged: self = .plugged(device: String(decoding: content, as: UTF8.self))
        case .closed: self = .closed
        case .unplugged: self = .unplugged
        case .removed: self = .removed
        case .ended: self = .ended
        case .due: self = .due
        case .found:
            guard let dialect = CaptureFields(content).text("dialect").flatMap(Dialect.init) else { throw CaptureFields.Fault() }
            self = .found(dialect)
        }
    }
}

/// The lines `key=value` of a record.
struct CaptureFields {
    /// A value is missing, or has no meaning.
    struct Fault: Error {}

    private var values: [Substring: Substring] = [:]

    init(_ content: [UInt8]) {
        for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
    }

    func text(_ key: String) -> String? { values[key[...]].map(String.init) }

    /// The value of a key as a number; nil if the key is absent.
    func number<Value: FixedWidthInteger>(_ key: String, in range: ClosedRange<Value>) throws(Fault) -> Value? {
        guard let text = text(key) else { return nil }
        guard let value = Value(text, in: range) else { throw Fault() }
        return value
    }
}

/// How a port was opened: what the modem at it begins with.
package struct PortOpening: Equatable, Sendable {
    /// When the opening is reported.
    package enum Report: String, Sendable {
        case now
        /// Never: the port stayed open, and only its modem was set up again.
        case none
        /// When the first bytes come in.
        case firstBytes = "first-bytes"
    }

    package var report = Report.now
    package var kind: RadioModem.PortKind
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
                ("limited", "1"), ("region", modem.region?.name), ("duty_cycle_ppm", limits.dutyCyclePartsPerMillion.map { "\($0)" }),
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
        modem.region = fields.text("region").flatMap(Region.named)
        if fields.text("limited") == "1" {
            modem.limits = TransmitLimits(
                dutyCyclePartsPerMillion: try fields.number("duty_cycle_ppm", in: 1...1_000_000),
                dwellMicroseconds: try fields.number("dwell_us", in: 0...PortOpening.timeLimit))
        }
    }
}
