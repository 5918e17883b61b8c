import CollarARQ
import CollarJournal
import CollarWire
import CollarWorld
import Testing

@testable import CollarReaders

/// A reader of the journals of several collars: the position in each of them, also of those that it does not read now.
@Suite struct SeveralJournalsTests {
    private let disk = SimulatedDisk(seed: 1)

    private func time(_ seconds: Int64 = 0) -> HostTime {
        HostTime(instant: Instant(microseconds: seconds * 1_000_000), unixMilliseconds: 1_700_000_000_000)
    }

    /// Appends fixes, which were received at their sequences, in milliseconds since 1970.
    private func append(_ sequences: ClosedRange<UInt32>, of collar: DeviceID) throws {
        let journal = try Journal.open(
            stateDirectory: "/state", deviceID: collar, receiverID: 9, nowUnixMilliseconds: 0, fileSystem: disk)
        for sequence in sequences {
            let fix = Fix(sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 2)
            #expect(try journal.append(JournaledFix(logID: 1, receivedUnixMilliseconds: Int64(sequence), fix: fix)))
        }
        try journal.commit()
    }

    private func follower(
        _ former: ReaderState? = nil, collars: Set<DeviceID>? = nil, failingAt operation: Int? = nil,
        _ change: (inout FollowConfiguration) -> Void = { _ in }
    ) throws -> JournalFollower {
        var configuration = FollowConfiguration(stateDirectory: "/state")
        configuration.selection.movesWithoutFixes = true
        configuration.collars = collars
        change(&configuration)
        let follower = JournalFollower(configuration, former: former, fileSystem: disk)
        disk.faults.operationsUntilFailure = operation
        try follower.lookForCollars(at: time().instant) { _ in }
        disk.faults.operationsUntilFailure = nil
        return follower
    }

    /// Takes entries, and confirms the wanted ones.
    private func take(_ follower: JournalFollower, confirming: (DeviceID, UInt32) -> Bool = { _, _ in true }) -> [DeviceID: [UInt32]] {
        var taken: [DeviceID: [UInt32]] = [:]
        while let entry = follower.nextEntry(at: time()) {
            guard case .fix(let record) = entry.content else { continue }
            taken[entry.deviceID, default: []].append(record.fix.sequence)
            if confirming(entry.deviceID, record.fix.sequence) { follower.confirm(entry.receipt) }
        }
        return taken
    }

    @Test func eachCollarHasAPositionOfItsOwn() throws {
        try append(1...3, of: collarA)
        try append(1...4, of: collarB)
        let first = try follower()
        #expect(take(first) { $1 <= ($0 == collarA ? 1 : 3) } == [collarA: [1, 2, 3], collarB: [1, 2, 3, 4]])
        let state = try first.durableState()
        #expect(Set(state.positions.keys) == [collarA, collarB])
        #expect(try take(follower(state)) == [collarA: [2, 3], collarB: [4]])
    }

    @Test func aRunForOneCollarKeepsThePositionOfTheOther() throws {
        try append(1...3, of: collarA)
        try append(1...3, of: collarB)
        let all = try follower()
        _ = take(all)
        let former = try all.durableState()
        try append(4...5, of: collarA)
        try append(4...5, of: collarB)
        let one = try follower(former, collars: [collarA])
        #expect(take(one) == [collarA: [4, 5]])
        let state = try one.durableState()
        #expect(state.collars == [collarA])
        #expect(state.positions[collarB] == former.positions[collarB])
        #expect(state.positions[collarA] != former.positions[collarA])
        let again = try follower(state)
        #expect(take(again) == [collarB: [4, 5]])
        #expect(try again.durableState().collars == nil)
    }

    @Test func aRunThatTakesNothingKeepsAllPositions() throws {
        try append(1...3, of: collarA)
        try append(1...3, of: collarB)
        let first = try follower()
        _ = take(first)
        let former = try first.durableState()
        let none = try follower(former, collars: [0xC])
        #expect(take(none) == [:])
        #expect(!none.hasCollars)
        #expect(try none.durableState().positions == former.positions)
        #expect(try take(follower(try none.durableState())) == [:])
    }

    @Test func aJournalThatCannotBeOpenedKeepsItsPositionAndIsReadLater() throws {
        try append(1...3, of: collarA)
        try append(1...3, of: collarB)
        let first = try follower()
        _ = take(first)
        let former = try first.durableState()
        try append(4...5, of: collarA)
        try append(4...5, of: collarB)
        // The first operation lists the state directory, the second one is about the first collar.
        let second = try follower(former, failingAt: 1)
        #expect(second.hasCollars && !second.hasCollar(collarA) && second.hasCollar(collarB))
        #expect(take(second) == [collarB: [4, 5]])
        let state = try second.durableState()
        #expect(state.positions[collarA] == former.positions[collarA])
        let notices = second.takeNotices()
        #expect(notices.count == 1)
        guard case .unreadable(deviceID: collarA, _) = notices.first else {
            Issue.record("\(notices)")
            return
        }
        #expect(try take(follower(state)) == [collarA: [4, 5]])
        #expect(second.nextDeadline == time(10).instant)
        second.deadlineReached(at: time(9).instant)
        #expect(take(second) == [:])
        second.deadlineReached(at: time(10).instant)
        #expect(take(second) == [collarA: [4, 5]])
        #expect(second.nextDeadline == nil)
        #expect(second.takeNotices() == [])
        #expect(try second.durableState().positions[collarA] != former.positions[collarA])
    }

    /// Two journals that cannot be opened are tried again together.
    @Test func twoJournalsThatCannotBeOpenedAreEachReportedOnce() throws {
        try append(1...2, of: collarA)
        try append(1...2, of: collarB)
        let follower = JournalFollower(FollowConfiguration(stateDirectory: "/state"), former: nil, fileSystem: disk)
        for collar in [collarA, collarB] {
            disk.faults.operationsUntilFailure = collar == collarA ? 1 : nil
            try follower.lookForCollars(at: time().instant) { _ in }
            disk.faults.operationsUntilFailure = nil
        }
        // The second look has opened both.
        #expect(follower.hasCollar(collarA) && follower.hasCollar(collarB))
        #expect(take(follower) == [collarA: [1, 2], collarB: [1, 2]])
        #expect(follower.takeNotices().count == 1)
    }

    /// The watch misses no change of a journal, also if another directory has taken its place.
    @Test func everyWantedCollarIsFoundByEachLook() throws {
        try append(1...1, of: collarA)
        try append(1...1, of: collarB)
        func found(_ collars: Set<DeviceID>?) throws -> [[DeviceID]] {
            var configuration = FollowConfiguration(stateDirectory: "/state")
            configuration.collars = collars
            let follower = JournalFollower(configuration, former: nil, fileSystem: disk)
            return try (0..<3).map { round in
                var found: [DeviceID] = []
                // The first look cannot open the first journal.
                disk.faults.operationsUntilFailure = round == 0 ? 1 : nil
                try follower.lookForCollars(at: time().instant) { found.append($0) }
                disk.faults.operationsUntilFailure = nil
                return found
            }
        }
        #expect(try found(nil) == Array(repeating: [collarA, collarB], count: 3))
        #expect(try found([collarB, 0xC]) == Array(repeating: [collarB], count: 3))
    }

    @Test func aJournalThatCannotBeOpenedIsACollarToo() throws {
        try append(1...1, of: collarA)
        let follower = try follower(failingAt: 1)
        #expect(follower.hasCollars && !follower.hasCollar(collarA))
        #expect(follower.nextDeadline == time(10).instant)
        // A look opens it before the time.
        try follower.lookForCollars(at: time(3).instant) { _ in }
        #expect(take(follower) == [collarA: [1]])
        follower.deadlineReached(at: time(10).instant)
        #expect(take(follower) == [:] && follower.nextDeadline == nil)
        #expect(follower.takeNotices().count == 1)
    }

    @Test func aLookNotesTheChangesOfTheKnownCollars() throws {
        try append(1...1, of: collarA)
        let follower = try follower()
        #expect(take(follower) == [collarA: [1]])
        try append(2...2, of: collarA)
        #expect(take(follower) == [:])
        try follower.lookForCollars(at: time().instant) { _ in }
        #expect(take(follower) == [collarA: [2]])
    }

    @Test func aStartIsForEveryCollarOfANewReader() throws {
        try append(1...5, of: collarA)
        try append(3...7, of: collarB)
        func taken(since: Int64) throws -> [DeviceID: [UInt32]] { take(try follower { $0.start = .since(unixMilliseconds: since) }) }
        #expect(try taken(since: 4) == [collarA: [4, 5], collarB: [4, 5, 6, 7]])
        #expect(try taken(since: 6) == [collarB: [6, 7]])
        #expect(try taken(since: 0) == [collarA: [1, 2, 3, 4, 5], collarB: [3, 4, 5, 6, 7]])
        #expect(try taken(since: 8) == [:])
    }

    @Test func whatIsBeforeTheStartIsNotReadAfterARestartEither() throws {
        try append(1...5, of: collarA)
        try append(1...5, of: collarB)
        let first = try follower { $0.start = .since(unixMilliseconds: 4) }
        #expect(take(first) { collar, _ in collar == collarA } == [collarA: [4, 5], collarB: [4, 5]])
        let state = try first.durableState()
        #expect(try take(follower(state)) == [collarB: [4, 5]])
        try append(6...6, of: collarA)
        #expect(try take(follower(state) { $0.start = .since(unixMilliseconds: 1) }) == [collarA: [6], collarB: [4, 5]])
    }

    @Test func aStartAfterAFixIsThatOfItsCollar() throws {
        try append(1...5, of: collarA)
        try append(1...2, of: collarB)
        let fix = FixIdentifier(deviceID: collarA, logID: 1, sequence: 3)
        #expect(try take(follower { $0.start = .after(fix) }) == [collarA: [4, 5], collarB: [1, 2]])
    }

    @Test func aChangeOfOneJournalIsNoChangeOfTheOther() throws {
        try append(1...1, of: collarA)
        try append(1...1, of: collarB)
        let follower = try follower()
        _ = take(follower)
        try append(2...2, of: collarA)
        try append(2...2, of: collarB)
        follower.noteChange(of: collarB)
        #expect(take(follower) == [collarB: [2]])
        follower.noteChange(of: 0xC)
        #expect(take(follower) == [:])
        follower.noteChange(of: collarA)
        #expect(take(follower) == [collarA: [2]])
    }

    @Test func theStateSaysWhatTheReaderTakes() throws {
        try append(1...1, of: collarA)
        let messages = try follower {
            $0.selection.hasFixes = false
            $0.selection.hasMessages = true
        }
        let state = try messages.durableState()
        #expect(!state.takesFixes && state.takesMessages && state.collars == nil)
        let fixes = try follower(state)
        let later = try fixes.durableState()
        #expect(later.takesFixes && !later.takesMessages)
    }
}
