import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire

/// Sums what is stored by day, for `history --by day`.
struct HistoryDays {
    let journals: StoredJournals
    let format: FormatOptions
    let start: EmissionStart
    let until: Int64

    func run() throws(CommandFailure) -> ExitCode {
        var lines: [DayLine] = []
        let code = try journals.forEach(of: journals.collars) { (deviceID) throws(CommandFailure) in
            lines += try self.lines(of: deviceID)
            return true
        }
        if format.format == .json {
            try StandardOutput.write(lines.flatMap(\.bytes))
        } else if !lines.isEmpty {
            try StandardOutput.write(Array(TextTable([DayLine.columns] + lines.map(\.cells)).text.utf8))
        }
        return code
    }

    private func lines(of deviceID: DeviceID) throws(CommandFailure) -> [DayLine] {
        var selection = EntrySelection()
        selection.choose([.fix, .message])
        let reader = try journals.reader(of: deviceID)
        let entries = try CommandFailure.wrapping(try SortedEntries(reader, selection, start: start))
        let coverage = try CommandFailure.wrapping(try reader.coverage(at: try reader.end()))
        let finder = WhereaboutsFinder(format)
        var book = DayBook(home: format.annotations.places.home?.circle.center)
        // The entry before the next one of each log.
        var previous: [LogID: UInt32] = [:]
        func countAbsent(before sequence: UInt32, in logID: LogID) {
            defer { previous[logID] = sequence }
            guard let former = previous[logID], sequence > former, let between = SequenceRange(former + 1, sequence - 1),
                let covered = coverage[logID]
            else { return }
            book.addMissing(covered.covered.missingRanges(in: between).reduce(0) { $0 + Int($1.count) })
            book.addLost(covered.lost.intersection(between).reduce(0) { $0 + Int($1.count) })
        }
        var dates: [Int64: (date: String, end: Int64)] = [:]
        var day: CalendarDay?
        while let contents = try CommandFailure.wrapping(try entries.next()) {
            for content in contents where journals.selection.contains(deviceID, at: content.unixMilliseconds) {
                switch content {
                case .fix(let record) where record.receivedUnixMilliseconds < until:
                    countAbsent(before: record.fix.sequence, in: record.logID)
                    let time = record.fix.unixMilliseconds
                    let ofFix = day.flatMap { $0.times.contains(time) ? $0 : nil } ?? CalendarDay(of: time, in: format.zone)
                    if ofFix != day { dates[ofFix.number] = (ofFix.date, ofFix.times.upperBound - 1) }
                    day = ofFix
                    book.add(
                        Sighting(finder.located(ReceivedFix(deviceID: deviceID, record))),
                        on: DayBook.Day(number: ofFix.number, startUnixMilliseconds: ofFix.times.lowerBound))
                case .message(let record): countAbsent(before: record.message.sequence, in: record.logID)
                case .fix, .gap: break
                }
            }
        }
        return book.days.sorted { $0.key < $1.key }.map { number, summary in
            let (date, end) = dates[number] ?? ("", 0)
            return DayLine(
                date: date, deviceID: deviceID, name: format.deployments.wearer(of: deviceID, at: end)?.name, summary)
        }
    }
}
