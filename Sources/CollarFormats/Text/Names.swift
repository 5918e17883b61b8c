import CheckedNumbers
import CollarErrors
import CollarWire

/// How a message names a collar.
package func collarName(_ deviceID: UInt64) -> String { "collar \(MessageDescription.hexadecimal(deviceID))" }

/// A receiver in a message: its id as `collar-link receiver show` prints it.
package func receiverName(_ receiverID: UInt32) -> String { MessageDescription.hexadecimal(UInt64(receiverID), digits: 8) }

extension ShellCommand {
    /// `collar-link send` with a request to one collar.
    package static func send(_ words: String..., to deviceID: UInt64) -> ShellCommand {
        ShellCommand(words: ["collar-link", "send"] + words + ["--collar", MessageDescription.hexadecimal(deviceID)])
    }
}

/// The factory id of a collar as text.
package enum CollarID {
    /// What ``deviceID(_:)`` takes, for messages.
    package static let form = "16 hexadecimal digits"

    /// Reads the id of a collar from 16 hexadecimal digits; nil for any other text.
    package static func deviceID(_ text: some StringProtocol) -> UInt64? {
        text.utf8.count == 16 ? UInt64(hexadecimal: text) : nil
    }

    /// Whether a text can be the beginning of an id that a person gives in place of the whole: 4 to 15 hexadecimal digits.
    package static func isPrefix(_ text: some StringProtocol) -> Bool {
        (4...15).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

extension FixIdentifier {
    /// The identifier in the text form of RFC 9562, in lower case.
    package var text: String {
        String(decoding: [UInt8](capacity: 36) { $0.append(self) }, as: UTF8.self)
    }
}

extension OutputSpan<UInt8> {
    /// Appends an identifier in the text form of RFC 9562, in lower case.
    mutating func append(_ identifier: FixIdentifier) {
        let second = HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: identifier.high))
        let third = HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: identifier.low >> 32))
        append(hexadecimal: UInt32(truncatingIfNeeded: identifier.high >> 32))
        append("-")
        append(second, byteCount: 4)
        append("-")
        append(second >> 32, byteCount: 4)
        append("-")
        append(third, byteCount: 4)
        append("-")
        append(third >> 32, byteCount: 4)
        append(hexadecimal: UInt32(truncatingIfNeeded: identifier.low))
    }

    /// Appends the factory id of a collar as sixteen hexadecimal digits.
    mutating func append(collar deviceID: UInt64) {
        append(hexadecimal: UInt32(truncatingIfNeeded: deviceID >> 32))
        append(hexadecimal: UInt32(truncatingIfNeeded: deviceID))
    }
}

/// The 16 bytes of a UUID as two integers. The first byte is the most significant byte of ``high``.
package struct UUIDHalves: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the text form of RFC 9562, in upper or lower case; nil for anything else.
    package init?(_ text: String) {
        var digits = 0
        var halves = (high: UInt64(0), low: UInt64(0))
        for (index, byte) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            if digits < 16 { halves.high = halves.high << 4 | UInt64(digit) } else { halves.low = halves.low << 4 | UInt64(digit) }
            digits += 1
        }
        guard digits == 32, text.utf8.count == 36 else { return nil }
        (high, low) = halves
    }
}

/// Names and units of settings, as section 14 of PROTOCOL.md lists them.
extension SettingKey {
    /// All settings, in the order of their numbers.
    package static let all = (1...SettingKey.count).compactMap { SettingKey(rawValue: $0) }

    /// The name for programs and command lines; it ends with the unit.
    package var name: String { texts.name }

    /// The meaning of the setting, for a person.
    package var meaning: String { texts.meaning }

    /// The values that a collar accepts, for a person: `5 to 12, or 0`.
    package var rangeText: String {
        "\(range.lowerBound) to \(range.upperBound)" + (isZeroAccepted ? ", or 0" : "")
    }

    /// The value before the first change, for a person. Section 14 of PROTOCOL.md has the defaults, too.
    package var defaultText: String {
        switch self {
        case .intervalMilliseconds, .accuracyChangeCentimeters, .stationaryDistanceCentimeters, .stationaryIntervalMilliseconds: "500"
        case .lowBatteryMovingIntervalMilliseconds: "1000"
        case .lowBatteryStationaryIntervalMilliseconds: "2000"
        case .criticalBatteryIntervalMilliseconds, .lowBatteryCaptureIntervalMilliseconds: "5000"
        case .stationarySeconds: "30"
        case .heartbeatSeconds: "60, or as built"
        case .positionDigits: "5"
        case .altitudeDigits, .spreadingFactor, .turnaroundMilliseconds, .modemHeaderBytes: "0"
        }
    }

    private var texts: (name: String, meaning: String) {
        switch self {
        case .intervalMilliseconds: ("interval_ms", "time between sent fixes: battery above 20 %, moving")
        case .lowBatteryMovingIntervalMilliseconds: ("low_battery_moving_interval_ms", "time between sent fixes: battery 10 to 20 %, moving")
        case .lowBatteryStationaryIntervalMilliseconds: ("low_battery_stationary_interval_ms", "time between sent fixes: battery 10 to 20 %, stationary")
        case .criticalBatteryIntervalMilliseconds: ("critical_battery_interval_ms", "time between sent fixes: battery below 10 %")
        case .accuracyChangeCentimeters: ("accuracy_change_cm", "always send a fix if its horizontal accuracy changed this much")
        case .stationaryDistanceCentimeters: ("stationary_distance_cm", "stationary: moved less than this during stationary_s")
        case .stationarySeconds: ("stationary_s", "stationary: time for stationary_distance_cm")
        case .heartbeatSeconds: ("heartbeat_s", "longest time without a frame from the collar")
        case .positionDigits: ("position_digits", "decimal places of latitude and longitude, in degrees")
        case .altitudeDigits: ("altitude_digits", "decimal places of the altitude, in metres")
        case .stationaryIntervalMilliseconds: ("stationary_interval_ms", "time between sent fixes: battery above 20 %, stationary")
        case .lowBatteryCaptureIntervalMilliseconds: ("low_battery_capture_interval_ms", "time between GNSS fixes: battery 20 % or less")
        case .spreadingFactor: ("spreading_factor", "LoRa spreading factor; 0: as built")
        case .turnaroundMilliseconds: ("turnaround_ms", "longest wait from a poll to its answer; 0: as built")
        case .modemHeaderBytes: ("modem_header_bytes", "bytes that the modem adds to each frame")
        }
    }

    /// The setting with this name; nil where there is none.
    package init?(name: String) {
        guard let key = SettingKey.all.first(where: { $0.name == name }) else { return nil }
        self = key
    }
}
