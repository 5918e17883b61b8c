import CollarARQ

/// The airtime that the duty cycle of a region leaves to a radio.
struct RegionAirtime: Sendable {
    private static let hour: Int64 = 3_600_000_000
    private static let minute: Int64 = 60_000_000

    private let partsPerMillion: Int64
    private let frequencyHertz: UInt32
    private var budget: AirtimeBudget
    /// Less than half of the depth was left, and since then not seven eighths of it. At a single limit, each answer could turn it over.
    private var isShort = false
    /// Until then the airtime of the last hour is not known, and the budget that began empty may be short for no other reason.
    private var quietEnd: Instant
    /// The airtime that was spent in each minute of the last hour.
    private var spent: [(minute: Int64, microseconds: Int64)] = []

    /// - Parameter isRested: whether nothing was sent in the last hour. Otherwise the budget is empty at first.
    init(partsPerMillion: Int64, frequencyHertz: UInt32, largestFrameMicroseconds: Int64, isRested: Bool, at now: Instant) {
        self.partsPerMillion = partsPerMillion
        self.frequencyHertz = frequencyHertz
        budget = AirtimeBudget(partsPerMillion: partsPerMillion, largestFrameMicroseconds: largestFrameMicroseconds, now: now)
        quietEnd = isRested ? now : now.advanced(byMicroseconds: RegionAirtime.hour)
        if isRested { budget.fill() }
    }

    /// Adds the airtime that the time since the last call allows.
    mutating func refill(at now: Instant, reportingTo output: inout ModemOutput) {
        budget.refill(now: now)
        spent.removeAll { $0.minute <= now.microseconds / RegionAirtime.minute - 60 }
        noteLevel(at: now, reportingTo: &output)
    }

    /// The wait for this airtime, in microseconds; the budget must have been refilled at `now`.
    func wait(forMicroseconds airtime: Int64, at now: Instant) -> Int64 {
        budget.earliest(airtimeMicroseconds: airtime, now: now).microseconds(since: now)
    }

    mutating func spend(microseconds: Int64, at now: Instant, reportingTo output: inout ModemOutput) {
        budget.spend(airtimeMicroseconds: microseconds)
        let minute = now.microseconds / RegionAirtime.minute
        if spent.last?.minute == minute { spent[spent.count - 1].microseconds += microseconds } else { spent.append((minute, microseconds)) }
        noteLevel(at: now, reportingTo: &output)
    }

    private mutating func noteLevel(at now: Instant, reportingTo output: inout ModemOutput) {
        let wasShort = isShort
        isShort = 8 * budget.tokenMicroseconds < (wasShort ? 7 : 4) * budget.depthMicroseconds
        if isShort != wasShort { output.events.append(.airtime(isShort: isShort)) }
        guard isShort else { return quietEnd = min(quietEnd, now) }
        guard now >= quietEnd else { return }
        output.report(
            .airtimeShort(
                usedMicroseconds: spent.reduce(0) { $0 + $1.microseconds }, partsPerMillion: partsPerMillion, frequencyHertz: frequencyHertz),
            kind: "airtime", interval: RegionAirtime.hour, at: now)
    }
}
