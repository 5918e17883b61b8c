import CollarARQ

/// The part of the time in which a radio sends, or a channel is in use, as RNode firmware reports it. The firmware counts in steps of
/// 7.5 s, the present one and the one before; this counts the last 15 s. Its other count is that of an hour.
struct ChannelLoad: Sendable {
    static let shortMicroseconds: Int64 = 15_000_000
    static let longMicroseconds: Int64 = 3_600_000_000

    private var spans: [(start: Instant, end: Instant)] = []

    /// Adds a time in use.
    mutating func add(from start: Instant, microseconds: Int64) {
        let end = start.advanced(byMicroseconds: microseconds)
        let oldest = end.advanced(byMicroseconds: -Self.longMicroseconds)
        if let first = spans.first, first.end < oldest { spans.removeAll { $0.end < oldest } }
        spans.append((start, end))
    }

    /// The part of a window that ends now, in hundredths of a per cent.
    func hundredthsOfPercent(inLast window: Int64, now: Instant) -> UInt16 {
        let begin = now.advanced(byMicroseconds: -window)
        var used: Int64 = 0
        for span in spans where span.end > begin {
            used += max(0, min(span.end, now).microseconds(since: max(span.start, begin)))
        }
        return UInt16(clamping: used * 10_000 / window)
    }
}
