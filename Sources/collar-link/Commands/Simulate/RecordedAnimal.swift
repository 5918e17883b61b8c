import CollarErrors
import CollarJournal
import CollarSimulator
import CollarTracking
import CollarWire

extension ParsedArguments {
    /// The surroundings of the animal or collar that `--like` names, as the fixes tell that are stored of it.
    func recordedDays(spreadingFactor: UInt8) throws(CommandFailure) -> RecordedDays {
        let journals = try StoredJournals(self, option: "--like")
        var fixes: [RecordedFix] = []
        var last: Position?
        let code = try journals.forEach(of: journals.collars) { (deviceID) throws(CommandFailure) in
            var selection = EntrySelection()
            selection.choose([.fix])
            let reader = try journals.reader(of: deviceID)
            let entries = try CommandFailure.wrapping(try SortedEntries(reader, selection, start: .all))
            while let contents = try CommandFailure.wrapping(try entries.next()) {
                for case .fix(let record) in contents where journals.selection.contains(deviceID, at: record.fix.unixMilliseconds) {
                    let position = Position(record.fix)
                    fixes.append(
                        RecordedFix(
                            madeUnixMilliseconds: record.fix.unixMilliseconds, receivedUnixMilliseconds: record.receivedUnixMilliseconds,
                            metersFromLast: last.map { Geodesic(from: $0, to: position).lengthMeters },
                            signalToNoiseTenthsDB: record.signal?.signalToNoiseTenthsDB))
                    last = position
                }
            }
            return true
        }
        guard code == .clean else { throw CommandFailure(code, "Not every journal of \(value("--like") ?? "") can be read.") }
        fixes.sort { $0.madeUnixMilliseconds < $1.madeUnixMilliseconds }
        guard let days = RecordedDays(fixes, spreadingFactor: spreadingFactor) else {
            throw CommandFailure(.noInput, "The fixes that are stored of \(value("--like") ?? "") span less than an hour.")
        }
        return days
    }
}
