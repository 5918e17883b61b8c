import CheckedNumbers

/// The text of RUI3's AT commands and answers.
///
/// Source: RAK-STM32-RUI, `atcmd.c` and `service_lora_p2p.c`. The transcripts in `Tests/Transcripts` show each generation.
enum RUI3Line: Equatable, Sendable {
    /// A command was carried out.
    case ok
    /// A command failed, with this status, such as `AT_PARAM_ERROR`; modems of other makers have the status `ERROR`.
    case failed(String)
    /// The value of `AT+name=?`.
    case value(name: String, String)
    case packet([UInt8], strengthDBm: Int16, signalToNoiseTenthsDB: Int16)
    /// The packet of `AT+PSEND` was sent.
    case sent
    /// The firmware has started.
    case started
    case other

    static let busyError = "AT_BUSY_ERROR"

    init(_ text: String) {
        if text == "OK" {
            self = .ok
        } else if text.hasPrefix("AT_") || text == "ERROR" || text.hasPrefix("+CME ERROR") {
            self = .failed(text)
        } else if text.hasPrefix("+EVT:TXP2P DONE") {
            self = .sent
        } else if let packet = RUI3Line.packet(text) {
            self = packet
        } else if text.hasPrefix("AT+"), let equals = text.firstIndex(of: "=") {
            self = .value(
                name: String(text[text.index(text.startIndex, offsetBy: 3)..<equals]),
                String(text[text.index(after: equals)...]))
        } else if text.hasPrefix("Current Work Mode") || text.hasPrefix("RAKwireless") {
            self = .started
        } else {
            self = .other
        }
    }

    /// `+EVT:RXP2P:rssi:snr:hex`, in which the numbers are decibels.
    private static func packet(_ text: String) -> RUI3Line? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "+EVT", parts[1] == "RXP2P", let strength = Int16(parts[2], in: -1000...1000),
            let noise = Int16(parts[3], in: -400...400), let bytes = bytes(hexadecimal: parts[4])
        else { return nil }
        return .packet(bytes, strengthDBm: strength, signalToNoiseTenthsDB: noise * 10)
    }

    static func bytes(hexadecimal text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), digits.count <= 510 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(digits: digits[index...index + 1], radix: 16, in: 0 ... .max) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// The name in the command that sends a packet.
    static let sendingName = "PSEND"

    /// The command that sends a packet.
    static func sending(_ packet: [UInt8]) -> String {
        "AT+\(sendingName)=" + packet.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    /// Cuts received bytes into lines; empty lines are left out.
    struct Decoder: Sendable {
        /// The most bytes of a line: an event with a packet of 255 bytes, and room to spare.
        private static let limit = 600

        private var line: [UInt8] = []

        /// Takes one byte.
        /// - Returns: the line that the byte ends; nil if it ends none.
        mutating func take(_ byte: UInt8) -> String? {
            switch byte {
            case 10, 13:
                defer { line.removeAll(keepingCapacity: true) }
                guard !line.isEmpty, line.count <= Decoder.limit else { return nil }
                return String(decoding: line, as: UTF8.self)
            case 0: return nil
            default:
                if line.count <= Decoder.limit { line.append(byte) }
                return nil
            }
        }
    }
}

/// A bandwidth as RUI3 writes it.
///
/// Releases up to 3.4 take kilohertz, 3.5.1 … 3.5.3 an index, and later ones both. They give back kilohertz or the index. Only the
/// index has the bandwidths below 125 kHz. Source: RAK-STM32-RUI, `service_lora_p2p.c` and the help text of `AT+PBW`.
enum RUI3Bandwidth {
    /// The bandwidths that belong to the indices from 0 on, in hertz.
    private static let indexedHertz: [UInt32] = [
        125_000, 250_000, 500_000, 7800, 10_400, 15_600, 20_800, 31_250, 41_700, 62_500,
    ]

    /// What may be written for a bandwidth, in hertz: first what most releases take.
    static func forms(of hertz: UInt32) -> [UInt32] {
        let index = indexedHertz.firstIndex(of: hertz).map { UInt32($0) }
        return [index, hertz >= 125_000 ? hertz / 1000 : nil].compactMap { $0 }
    }

    /// The bandwidth that a stick gives back, in hertz.
    /// - Parameter value: an index or kilohertz.
    static func hertz(_ value: Int64) -> Int64 {
        indexedHertz.indices.contains(Int(clamping: value)) ? Int64(indexedHertz[Int(value)]) : value * 1000
    }
}
