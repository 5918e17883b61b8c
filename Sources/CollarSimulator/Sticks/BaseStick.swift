import CollarARQ
import CollarWire
import RadioModems

/// A base stick as its firmware and its radio make it: bytes of the host on one side, packets on the air on the other.
///
/// The caller owns the clock and the air. After each call it takes what the stick gives: ``takeOutput(now:)`` and
/// ``nextTransmission(now:)``. It calls ``advance(to:)`` at ``nextDeadline`` at the latest.
package protocol BaseStick: Sendable {
    /// The protocol that the stick speaks at its port.
    var dialect: Dialect { get }

    var radio: StickRadio { get }

    /// Whether the stick takes bytes of the host. While it does not, the caller keeps them, as a port that blocks does.
    var isTakingInput: Bool { get }

    /// When to call ``advance(to:)`` again if nothing happens before; the end of a transmission is the caller's own deadline.
    var nextDeadline: Instant { get }

    /// Accepts bytes that the host wrote to the port.
    mutating func receive(_ bytes: [UInt8], now: Instant)

    /// Accepts a packet that ended on the air just now. The caller gives only packets that the radio can hear.
    mutating func hear(_ packet: [UInt8], signal: RadioSignal, now: Instant)

    /// Notes whether a packet of another sender is on the channel of the stick's radio.
    mutating func noteChannel(isBusy: Bool, now: Instant)

    /// Does everything that is due.
    mutating func advance(to now: Instant)

    /// Removes and returns the bytes that have arrived at the host.
    mutating func takeOutput(now: Instant) -> [UInt8]

    /// The next transmission that begins now; nil if none does. Its end is told by ``transmissionEnded(now:)``.
    mutating func nextTransmission(now: Instant) -> StickTransmission?

    mutating func transmissionEnded(now: Instant)

    mutating func cause(_ fault: StickFault, now: Instant)
}

/// The state and the settings of a stick's radio.
package enum StickRadio: Equatable, Sendable {
    /// The stick has no radio that the host can set: everything arrives.
    case line
    case off
    /// The radio listens and sends with these settings.
    case on(RadioSettings)

    /// The farthest that two radios may be apart in frequency and still hear each other, in hertz.
    private static let frequencyToleranceHertz: Int64 = 10_000

    /// Whether the radio and a sender with these settings hear each other. The coding rate is in the header of each packet, so
    /// it may differ.
    package func hears(_ channel: RadioSettings?) -> Bool {
        switch self {
        case .line: return true
        case .off: return false
        case .on(let settings):
            guard let channel else { return false }
            return settings.bandwidthHertz == channel.bandwidthHertz && settings.spreadingFactor == channel.spreadingFactor
                && abs(Int64(settings.frequencyHertz) - Int64(channel.frequencyHertz)) <= Self.frequencyToleranceHertz
        }
    }
}

/// A packet that a stick begins to send.
package struct StickTransmission: Equatable, Sendable {
    package let packet: [UInt8]
    package let airtimeMicroseconds: Int64
}

/// A fault of a stick. The raw values are the names that a person types.
package enum StickFault: String, CaseIterable, Sendable {
    /// The stick restarts and forgets its settings.
    case reset
    /// The stick takes and gives no bytes for 10 s, and hears nothing.
    case stall
    /// The stick sends random bytes to the host.
    case garbage
    /// The radio refuses all settings until the stick restarts.
    case refuse
    /// The channel is busy for 5 s.
    case busy
    /// The stick says for 5 s that it has no room for a packet.
    case full
    /// The board has an amplifier: while its radio is on, it tells at least 13 dBm, though it can send with less.
    case amplifier
    /// The stick takes packets and answers questions, and sends nothing until it restarts.
    case stuck

    /// How long ``stall`` lasts, in microseconds.
    package static let stallMicroseconds: Int64 = 10_000_000
    /// How long ``busy`` and ``full`` last, in microseconds.
    package static let refusalMicroseconds: Int64 = 5_000_000

    /// Whether a stick of a dialect can have the fault: a serial line has no radio that is set, and no queue.
    package func isPossible(in dialect: Dialect) -> Bool {
        switch self {
        case .stall, .garbage: true
        case .reset, .refuse, .busy, .full: dialect != .serial
        case .amplifier: dialect == .rnode
        case .stuck: dialect == .kiss
        }
    }
}

extension Dialect {
    /// A stick of the dialect that has just been powered up.
    /// - Parameters:
    ///   - modem: the timing of a serial line; the other sticks have their own.
    ///   - release: the release of the firmware; nil for the latest.
    ///   - seed: what chance depends on.
    package func makeStick(modem: ModemProfile, release: StickRelease? = nil, seed: UInt64) -> any BaseStick {
        switch self {
        case .serial: SerialStick(modem: modem, seed: seed)
        case .kiss: KISSModemStick(release: release ?? .kissReportsBusy, seed: seed)
        case .rnode: RNodeStick(seed: seed)
        case .rui3: RUI3Stick(release: release ?? .rui3ShortPackets, seed: seed)
        }
    }
}

extension Instant {
    /// A time that does not come.
    package static let never = Instant(microseconds: .max)
}

/// A release of a stick's firmware from which on it behaves in another way. The raw values are the names that a person types.
/// Each is proven by a file in `Tests/Transcripts`.
package enum StickRelease: String, CaseIterable, Comparable, Sendable {
    /// MeshCore: the first release with the KISS modem, with a preamble of 16 symbols.
    case kissFirst = "1.13"
    /// MeshCore: a preamble of 32 symbols up to SF8.
    case kissLongPreamble = "1.16"
    /// MeshCore: a packet too many is refused with an error.
    case kissReportsBusy = "1.17.1"
    case rnode = "1.86"
    /// RUI3: bandwidths in kilohertz.
    case rui3Kilohertz = "3.4.2"
    /// RUI3: bandwidths by index only.
    case rui3Index = "3.5.3"
    /// RUI3: both forms of bandwidths; the sync word and the like can be set.
    case rui3BothForms = "4.0.1"
    /// RUI3: a packet that was sent is reported.
    case rui3ReportsSent = "4.0.5"
    /// RUI3: tells whether it receives, and refuses settings meanwhile.
    case rui3ReportsReception = "4.1.0"
    /// RUI3: packets have at most 239 bytes.
    case rui3ShortPackets = "4.2.0"

    package var dialect: Dialect {
        switch self {
        case .kissFirst, .kissLongPreamble, .kissReportsBusy: .kiss
        case .rnode: .rnode
        case .rui3Kilohertz, .rui3Index, .rui3BothForms, .rui3ReportsSent, .rui3ReportsReception, .rui3ShortPackets: .rui3
        }
    }

    /// The release of a dialect's firmware with this name; nil if there is none.
    package init?(rawValue: String, of dialect: Dialect) {
        guard let release = StickRelease(rawValue: rawValue), release.dialect == dialect else { return nil }
        self = release
    }

    /// The releases of a dialect's firmware, oldest first; none for a serial line.
    package static func all(of dialect: Dialect) -> [StickRelease] { allCases.filter { $0.dialect == dialect } }

    package static func < (left: StickRelease, right: StickRelease) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

/// The settings that the radio chip of a stick (SX1262) takes.
enum LoRaChip {
    static let frequencyHertz: ClosedRange<UInt32> = 150_000_000...960_000_000
    /// Ascending.
    static let bandwidthHertz: [UInt32] = [
        7_800, 10_400, 15_600, 20_800, 31_250, 41_700, 62_500, 125_000, 250_000, 500_000,
    ]
    static let spreadingFactor: ClosedRange<UInt8> = 5...12
    static let codingRateDenominator: ClosedRange<UInt8> = 5...8
    static let powerDBm: ClosedRange<Int8> = -9...22
}

extension Comparable {
    func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
