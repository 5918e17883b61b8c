import CollarARQ
import CollarJournal
import CollarSimulator
import CollarWire
import CollarWorld
import Testing

@testable import CollarReaders

/// A reader in another process than the one that writes.
@Suite struct JournalFollowerTests {
    private let disk = SimulatedDisk(seed: 1)
    private let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 1_700_000_000_000)

    private func openJournal(_ deviceID: DeviceID = 7, at unixMilliseconds: Int64 = 1_700_000_000_000) throws -> Journal {
        try Journal.open(
            stateDirectory: "/state", deviceID: deviceID, receiverID: 9, nowUnixMilliseconds: unixMilliseconds,
            segmentByteLimit: 2048, fileSystem: disk)
    }

    private func follower(_ former: ReaderState? = nil, _ change: (inout FollowConfiguration) -> Void = { _ in }) throws -> JournalFollower {
        var configuration = FollowConfiguration(stateDirectory: "/state")
        configuration.selection.movesWithoutFixes = true
        change(&configuration)
        let follower = JournalFollower(configuration, former: former, fileSystem: disk)
        try follower.lookForCollars(at: time.instant) { _ in }
        return follower
    }

    private func append(_ sequences: some Sequence<UInt32>, to journal: Journal, log: LogID = 1) throws {
        for sequence in sequences { #expect(try journal.append(JournaledFix(sequence, logID: log))) }
        try journal.commit()
    }

    /// Takes entries and confirms those that `isTaken` accepts.
    private func take(_ follower: JournalFollower, most: Int = .max, confirms: Bool = true) -> [String] {
        var texts: [String] = []
        while texts.count < most, let entry = follower.nextEntry(at: time) {
            switch entry.content {
            case .fix(let record): texts.append("\(entry.deviceID.rawValue)/\(record.fix.sequence)")
            case .gap(let change): texts.append(change.text)
            case .message: texts.append("message")
            }
            if confirms { follower.confirm(entry.receipt) }
        }
        return texts
    }

    private func numbered(_ range: Range<Int>, of deviceID: Int = 7) -> [String] { range.map { "\(deviceID)/\($0)" } }

    @Test func itGetsWhatIsStoredAndWhatComes() throws {
        let journal = try openJournal()
        try append(0..<100, to: journal)
        let follower = try follower()
        #expect(take(follower) == numbered(0..<100))
        #expect(take(follower) == [])
        try append(100..<150, to: journal)
        #expect(take(follower) == [], "nothing is read before a change is noted")
        follower.noteChange(of: 7)
        #expect(take(follower) == numbered(100..<150))
        let other = try openJournal(8)
        try append(0..<3, to: other)
        var found: [DeviceID] = []
        try follower.lookForCollars(at: time.instant) { found.append($0) }
        // Both: another directory may have taken the place of one that is followed.
        #expect(found == [7, 8])
        #expect(take(follower) == numbered(0..<3, of: 8))
        #expect(follower.takeNotices() == [])
    }

    /// It is reported once.
    @Test func aJournalThatCannotBeOpenedIsTriedAgainEveryTenSeconds() throws {
        try append(0..<3, to: try openJournal())
        let follower = JournalFollower(FollowConfiguration(stateDirectory: "/state"), former: nil, fileSystem: disk)
        // The first operation lists the state directory.
        disk.faults.operationsUntilFailure = 1
        try follower.lookForCollars(at: time.instant) { _ in }
        #expect(follower.takeNotices().count == 1)
        for attempt in 1...3 {
            let due = time.instant.advanced(byMicroseconds: Int64(attempt) * 10_000_000)
            #expect(follower.nextDeadline == due, "attempt \(attempt)")
            if attempt < 3 { disk.faults.operationsUntilFailure = 0 }
            follower.deadlineReached(at: due)
            #expect(follower.hasCollar(7) == (attempt == 3), "attempt \(attempt)")
        }
        #expect(follower.nextDeadline == nil)
        #expect(take(follower) == numbered(0..<3))
        #expect(follower.takeNotices() == [])
    }

    /// The start that is given applies to a reader without a state: nothing of this collar was read before.
    @Test func aCollarThatCameMeanwhileIsReadFromItsStart() throws {
        try append(0..<3, to: try openJournal())
        let first = try follower()
        #expect(take(first) == numbered(0..<3))
        let state = try first.durableState()
        try append(0..<2, to: try openJournal(8))
        let later = try follower(state) { $0.start = .since(unixMilliseconds: .max) }
        #expect(take(later) == numbered(0..<2, of: 8))
    }

    @Test func itMayBeginBeforeTheFirstSegment() throws {
        _ = try disk.makeDirectory(at: "/state")
        _ = try disk.makeDirectory(at: "/state/0000000000000007")
        let reader = try follower()
        #expect(take(reader) == [])
        try append(0..<3, to: try openJournal())
        reader.noteChange(of: 7)
        #expect(take(reader) == numbered(0..<3))
    }

    @Test func itGoesOnAfterTheLastConfirmedEntry() throws {
        let journal = try openJournal()
        try append(0..<100, to: journal)
        let first = try follower()
        #expect(take(first, most: 40) == numbered(0..<40))
        #expect(take(first, most: 10, confirms: false) == numbered(40..<50))
        let state = try first.durableState()
        #expect(take(try follower(state)) == numbered(40..<100))
        // One that has nothing new goes on at the end, whatever makes no entry there.
        let second = try follower(state)
        #expect(take(second) == numbered(40..<100))
        let end = try second.durableState()
        #expect(end.positions[7]?.place == journal.end)
        #expect(take(try follower(end)) == [])
        try append(100..<101, to: journal)
        #expect(take(try follower(end)) == ["7/100"])
    }

    /// The position never names a record that a power cut removes.
    @Test func thePositionIsDurableAlsoWhereTheWriterIsNot() throws {
        let journal = try openJournal()
        try append(0..<10, to: journal)
        // The writer writes these fixes, and is killed before it synchronises them.
        for sequence in 10..<20 as Range<UInt32> { #expect(try journal.append(JournaledFix(sequence, logID: 1))) }
        disk.faults.operationsUntilStop = 1
        #expect(throws: JournalError.self) { try journal.commit() }
        disk.endProcess()
        let reader = try follower()
        #expect(take(reader) == numbered(0..<20))
        let state = try reader.durableState()
        disk.losePower()
        let again = try openJournal()
        #expect(again.known(logID: 1).highest == 19)
        #expect(take(try follower(state)) == [])
    }

    @Test func aJournalThatWasCutIsReadAgain() throws {
        let journal = try openJournal()
        try append(0..<20, to: journal)
        let cut = journal.end
        try append(20..<30, to: journal)
        let reader = try follower()
        #expect(take(reader) == numbered(0..<30))
        let state = try reader.durableState()
        // The writer could not bring the last records to the disk: it cuts them off and writes others in their place.
        let path = "/state/0000000000000007/00000001.journal"
        let file = try disk.open(path, .writing)
        try disk.truncate(file, to: Int(cut.offset))
        disk.close(file)
        reader.noteChange(of: 7)
        #expect(take(reader).suffix(20) == numbered(0..<20)[...])
        #expect(reader.takeNotices() == [.rewritten(deviceID: 7)])
        disk.endProcess()
        let again = try openJournal()
        try append(50..<70, to: again)
        // A reader that is started now finds other records before its position.
        let late = try follower(state)
        #expect(take(late) == numbered(0..<20) + numbered(50..<70))
        #expect(take(try follower(try late.durableState())) == [])
    }

    @Test func aRestoredJournalIsReadFromItsStart() throws {
        let journal = try openJournal()
        try append(0..<300, to: journal)
        let reader = try follower()
        #expect(take(reader) == numbered(0..<300))
        let state = try reader.durableState()
        #expect((state.positions[7]?.place.segment ?? 0) > 1)
        // A younger journal of the same collar takes the place of the old one.
        disk.endProcess()
        for name in try disk.names(in: "/state/0000000000000007") { try disk.remove("/state/0000000000000007/\(name)") }
        let restored = try openJournal(at: 1_700_000_999_000)
        try append(1000..<1300, to: restored)
        #expect(take(try follower(state)) == numbered(1000..<1300))
    }

    @Test func sortedFixesWaitForThoseBeforeThem() throws {
        let journal = try openJournal()
        try append([0, 3, 2], to: journal)
        let reader = try follower { $0.selection.isSorted = true }
        #expect(take(reader) == ["7/0"])
        try append([1], to: journal)
        reader.noteChange(of: 7)
        #expect(take(reader) == ["7/1", "7/2", "7/3"])
        // A reader hears no identity: the log of the newest record is the collar's.
        try append([6], to: journal)
        try append([0], to: journal, log: 2)
        reader.noteChange(of: 7)
        #expect(take(reader) == ["7/0", "7/6"])
    }

    @Test func gapsAloneMoveThePosition() throws {
        let journal = try openJournal()
        try append([0, 5], to: journal)
        let reader = try follower {
            $0.selection.hasFixes = false
            $0.selection.hasGaps = true
        }
        #expect(take(reader) == ["1 missing 1-4"])
        let state = try reader.durableState()
        #expect(state.positions[7]?.place == journal.end)
    }

    @Test func onlyTheWantedCollars() throws {
        try append(0..<3, to: try openJournal(7))
        try append(0..<3, to: try openJournal(8))
        let reader = try follower { $0.collars = [8] }
        #expect(take(reader) == numbered(0..<3, of: 8))
        #expect(try reader.durableState().collars == [8])
    }

    @Test func itBeginsAfterAFixOrAtATime() throws {
        let journal = try openJournal()
        try append(0..<300, to: journal)
        let after = FixIdentifier(deviceID: 7, logID: 1, sequence: 250)
        #expect(take(try follower { $0.start = .after(after) }) == numbered(251..<300))
        #expect(take(try follower { $0.start = .since(unixMilliseconds: 290) }) == numbered(290..<300))
    }
}
