import CollarJournal

/// Whether the clock shows a time that can be right. The times in the journal come from it.
package enum ClockCheck {
    /// The beginning of 2100, in milliseconds since 1970.
    private static let latest: Int64 = 4_102_444_800_000

    package static func findings(_ examination: Examination) -> [Finding] {
        let now = examination.machine.unixMilliseconds
        guard now < CredibleTimes.release || now >= latest else { return [] }
        return [.clockWrong(unixSeconds: now / 1000, sudo: examination.sudo)]
    }
}
