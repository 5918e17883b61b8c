import CollarARQ

/// The outputs of a modem, until its caller takes them.
struct ModemOutput: Sendable {
    /// Bytes for the port.
    var bytes: [UInt8] = []
    /// Events for the receiver.
    var events: [ModemEvent] = []
    /// When a notice of a kind that repeats was given last.
    private var lastRepeated: [String: Instant] = [:]

    /// The least time between two notices of one kind, in microseconds.
    private static let repeatInterval: Int64 = 60_000_000

    mutating func report(_ notice: ModemNotice) { events.append(.notice(notice)) }

    /// Reports a notice unless one of its kind was reported less than a minute ago.
    mutating func report(_ notice: ModemNotice, kind: String, at now: Instant) {
        if let last = lastRepeated[kind], now.microseconds(since: last) < ModemOutput.repeatInterval { return }
        lastRepeated[kind] = now
        report(notice)
    }

    /// Reports that a stick sends with another power than wanted, in dBm, if it does.
    mutating func reportPower(wanted: Int8, actual: Int8, at now: Instant) {
        let (wanted, actual) = (Int64(wanted), Int64(actual))
        if actual < wanted { report(.powerReduced(wantedDBm: wanted, actualDBm: actual), kind: "power", at: now) }
        if actual > wanted { report(.powerRaised(wantedDBm: wanted, actualDBm: actual), kind: "power", at: now) }
    }

    mutating func write(_ frame: KISSFrame) { frame.append(to: &bytes) }
}
