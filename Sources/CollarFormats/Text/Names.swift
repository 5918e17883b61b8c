import CheckedNumbers
import CollarErrors
import CollarWire

package func collarName(_ deviceID: DeviceID) -> String { "collar \(deviceID)" }

/// The same at the start of a sentence.
package func collarSubject(_ deviceID: DeviceID) -> String { "Collar \(deviceID)" }

/// A receiver in a message: its id as `collar-link receiver show` prints it.
package func receiverName(_ receiverID: UInt32) -> String { MessageDescription.hexadecimal(UInt64(receiverID), digits: 8) }

extension ShellCommand {
    /// `collar-link send` with a request to one collar.
    package static func send(_ words: String..., to deviceID: DeviceID) -> ShellCommand {
        ShellCommand(words: ["collar-link", "send"] + words + ["--collar", deviceID.description])
    }
}

package enum CollarID {
    /// What ``deviceID(_:)`` takes, for messages.
    package static let form = "16 hexadecimal digits"

    /// Reads the id of a collar from 16 hexadecimal digits; nil for any other text.
    package static func deviceID(_ text: some StringProtocol) -> DeviceID? {
        text.utf8.count == 16 ? DeviceID(hexadecimal: text) : nil
    }

    /// Whether a text can be the beginning of an id that a person gives in place of the whole: 4 to 15 hexadecimal digits.
    package static func isPrefix(_ text: some StringProtocol) -> Bool {
        (4...15).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

extension FixIdentifier {
    /// The identifier in the text form of RFC 9562, in lower case.
    package var text: String { String(decoding: [UInt8](capacity: 36) { $0.append(self) }, as: UTF8.self) }
}

extension OutputSpan<UInt8> {
    /// Appends an identifier in the text form of RFC 9562, in lower case.
    mutating func append(_ identifier: FixIdentifier) { append(UUIDHalves(high: identifier.high, low: identifier.low)) }

    /// Appends a UUID in the text form of RFC 9562, in lower case.
    mutating func append(_ uuid: UUIDHalves) {
        let second = HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: uuid.high))
        let third = HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: uuid.low >> 32))
        append(hexadecimal: UInt32(truncatingIfNeeded: uuid.high >> 32))
        append("-")
        append(second, byteCount: 4)
        append("-")
        append(second >> 32, byteCount: 4)
        append("-")
        append(third, byteCount: 4)
        append("-")
        append(third >> 32, byteCount: 4)
        append(hexadecimal: UInt32(truncatingIfNeeded: uuid.low))
    }

    /// Appends the factory id of a collar as sixteen hexadecimal digits.
    mutating func append(collar deviceID: DeviceID) {
        append(hexadecimal: UInt32(truncatingIfNeeded: deviceID.rawValue >> 32))
        append(hexadecimal: UInt32(truncatingIfNeeded: deviceID.rawValue))
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

    /// The UUID in the text form of RFC 9562, in lower case.
    var text: String { String(decoding: [UInt8](capacity: 36) { $0.append(self) }, as: UTF8.self) }

    /// Reads the text form of RFC 9562, in upper or lower case; nil for anything else.
    package init?(_ text: String) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        let digits = groups.joined()
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12], let high = UInt64(hexadecimal: digits.prefix(16)),
            let low = UInt64(hexadecimal: digits.dropFirst(16))
        else { return nil }
        self.init(high: high, low: low)
    }
}

/// Names and units of settings, as section 14 of PROTOCOL.md lists them.
extension SettingKey {
    /// All settings, in the order of their numbers.
    package static let all = (1...SettingKey.count).compactMap { SettingKey(rawValue: $0) }

    /// The name for programs and command lines; it ends with the unit.
    package var name: String { texts.name }

    package var meaning: String { texts.meaning }

    /// The values that a collar accepts, for a person: `5 to 12, or 0`.
    package var rangeText: String { "\(range.lowerBound) to \(range.upperBound)" + (isZeroAccepted ? ", or 0" : "") }

    /// The value before the first change, for a person. Section 14 of PROTOCOL.md has the defaults, too.
    package var defaultText: String { texts.defaultText }

    private var texts: (name: String, meaning: String, defaultText: String) {
        switch self {
        case .intervalMilliseconds: ("interval_ms", "time between sent fixes: battery above 20 %, moving", "500")
        case .lowBatteryMovingIntervalMilliseconds: ("low_battery_moving_interval_ms", "time between sent fixes: battery 10 to 20 %, moving", "1000")
        case .lowBatteryStationaryIntervalMilliseconds: ("low_battery_stationary_interval_ms", "time between sent fixes: battery 10 to 20 %, stationary", "2000")
        case .criticalBatteryIntervalMilliseconds: ("critical_battery_interval_ms", "time between sent fixes: battery below 10 %", "5000")
        case .accuracyChangeCentimeters: ("accuracy_change_cm", "always send a fix if its horizontal accuracy changed this much", "500")
        case .stationaryDistanceCentimeters: ("stationary_distance_cm", "stationary: moved less than this during stationary_s", "500")
        case .stationarySeconds: ("stationary_s", "stationary: time for stationary_distance_cm", "30")
        case .heartbeatSeconds: ("heartbeat_s", "longest time without a frame from the collar", "60, or as built")
        case .positionDigits: ("position_digits", "decimal places of latitude and longitude, in degrees", "5")
        case .altitudeDigits: ("altitude_digits", "decimal places of the altitude, in metres", "0")
        case .stationaryIntervalMilliseconds: ("stationary_interval_ms", "time between sent fixes: battery above 20 %, stationary", "500")
        case .lowBatteryCaptureIntervalMilliseconds: ("low_battery_capture_interval_ms", "time between GNSS fixes: battery 20 % or less", "5000")
        case .spreadingFactor: ("spreading_factor", "LoRa spreading factor; 0: as built", "0")
        case .turnaroundMilliseconds: ("turnaround_ms", "longest wait from a poll to its answer; 0: as built", "0")
        case .modemHeaderBytes: ("modem_header_bytes", "bytes that the modem adds to each frame", "0")
        case .fixIntervalMilliseconds: ("fix_interval_ms", "time between GNSS fixes, moving; 0: the GNSS receiver is always on", "0")
        case .restFixIntervalMilliseconds: ("rest_fix_interval_ms", "the same at rest; 0: as fix_interval_ms", "0")
        case .searchTimeoutSeconds: ("search_timeout_s", "a search without a position ends after this time", "60")
        case .enoughAccuracyCentimeters: ("enough_accuracy_cm", "horizontal accuracy that ends a search; 0: any", "2000")
        case .restHeartbeatSeconds: ("rest_heartbeat_s", "longest time without a frame from a collar at rest; 0: as heartbeat_s", "0")
        case .outOfReachSeconds: ("out_of_reach_s", "longest time between polls without an answer; 0: as built", "0")
        case .searchWaitSeconds: ("search_wait_s", "longest time from a search without a position to the next", "3600")
        case .settlingSeconds: ("settling_s", "how long to wait for enough_accuracy_cm after the first position", "10")
        }
    }

    package init?(name: String) {
        guard let key = SettingKey.all.first(where: { $0.name == name }) else { return nil }
        self = key
    }
}
