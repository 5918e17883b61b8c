/// A day of the proleptic Gregorian calendar.
struct CalendarDay {
    /// The year; 0 is the year before 1.
    let year: Int64
    /// The month, 1 … 12.
    let month: UInt32
    /// The day of the month, 1 … 31.
    let day: UInt32

    /// The day so many days after 1970-01-01.
    init(daysSince1970 days: Int64) {
        // Years begin with March here, so that the leap day is the last day of a year. Four hundred years, an era, always
        // have the same number of days.
        let daysOfEra: Int64 = 146_097
        let daysSinceMarch0000 = days + 719_468
        let era = (daysSinceMarch0000 >= 0 ? daysSinceMarch0000 : daysSinceMarch0000 - (daysOfEra - 1)) / daysOfEra
        let dayOfEra = daysSinceMarch0000 - era * daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = UInt32(dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100))
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}
