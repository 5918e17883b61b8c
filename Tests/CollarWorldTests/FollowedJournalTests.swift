import CollarARQ
import CollarHost
import CollarJournal
import CollarReaders
import CollarWire
import Glibc
import Testing

@testable import CollarWorld

/// A reader follows the journal of another process on a simulated disk.
@Suite struct FollowedJournalTests {
    private let collar: DeviceID = 0xC011_A200_0000_0000
    private let directory = "/var/state/c011a20000000000"
    private let start = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 1_700_000_000_000)
    private let later = HostTime(instant: Instant(microseconds: 20_000_000), unixMilliseconds: 1_700_000_020_000)

    /// Stores fixes with these sequences, as the receiver does.
    private func store(
        _ sequences: Range<UInt32>, on disk: SimulatedDisk, at unixMilliseconds: Int64 = 1_700_000_000_000, latitude: Int32 = 1
    ) throws {
        let journal = try Journal.open(
            stateDirectory: "/var/state", deviceID: collar, receiverID: 5, nowUnixMilliseconds: unixMilliseconds, fileSystem: disk)
        for sequence in sequences {
            let fix = Fix(sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: latitude, longitudeSteps: 2)
            #expect(try journal.append(JournaledFix(logID: 7, receivedUnixMilliseconds: unixMilliseconds, fix: fix)))
        }
        try journal.commit()
        disk.endProcess()
    }

    private func follower(on disk: SimulatedDisk, former: ReaderState? = nil) -> JournalFollower {
        JournalFollower(FollowConfiguration(stateDirectory: "/var/state"), former: former, fileSystem: disk)
    }

    /// The sequences of the fixes that wait. The consumer confirms all of them.
    private func take(from follower: JournalFollower, at time: HostTime) -> [UInt32] {
        var sequences: [UInt32] = []
        follower.deadlineReached(at: time.instant)
        while let entry = follower.nextEntry(at: time) {
            if case .fix(let record) = entry.content { sequences.append(record.fix.sequence) }
            follower.confirm(entry.receipt)
        }
        return sequences
    }

    @Test func aJournalThatHasNoSegmentYetIsReadOnceItHasOne() throws {
        let disk = SimulatedDisk(seed: 1)
        for path in ["/var", "/var/state", directory] { #expect(try disk.makeDirectory(at: path)) }
        let follower = follower(on: SimulatedDisk(sharing: disk, seed: 2))
        try follower.lookForCollars(at: start.instant) { _ in }
        #expect(take(from: follower, at: start) == [])
        try store(0..<3, on: disk)
        follower.noteChange(of: collar)
        #expect(take(from: follower, at: start) == [0, 1, 2])
    }

    @Test func aJournalThatReplacesAnotherIsReadFromItsStart() throws {
        let disk = SimulatedDisk(seed: 1)
        try store(0..<5, on: disk)
        let follower = follower(on: SimulatedDisk(sharing: disk, seed: 2))
        try follower.lookForCollars(at: start.instant) { _ in }
        #expect(take(from: follower, at: start) == [0, 1, 2, 3, 4])
        disk.restore(nil)
        try store(10..<16, on: disk, at: 1_700_000_001_000)
        follower.noteChange(of: collar)
        #expect(take(from: follower, at: start) == [10, 11, 12, 13, 14, 15])
        #expect(follower.takeNotices() == [.rewritten(deviceID: collar)])
    }

    @Test func aPositionIsNotStoredForAJournalThatWasReplacedAfterTheReading() throws {
        let disk = SimulatedDisk(seed: 1)
        try store(0..<5, on: disk)
        let reading = SimulatedDisk(sharing: disk, seed: 2)
        let former = follower(on: reading)
        try former.lookForCollars(at: start.instant) { _ in }
        #expect(take(from: former, at: start) == [0, 1, 2, 3, 4])
        disk.restore(nil)
        try store(10..<16, on: disk, at: 1_700_000_001_000)
        let state = try former.durableState()
        #expect(state.positions == [:])
        #expect(take(from: try restarted(state, on: reading), at: start) == [10, 11, 12, 13, 14, 15])
    }

    /// The two journals differ in their fixes alone: their headers and the progress after the fixes are the same bytes.
    @Test func aPositionIsComparedByTheFixesBeforeIt() throws {
        let disk = SimulatedDisk(seed: 1)
        try store(0..<5, on: disk)
        let reading = SimulatedDisk(sharing: disk, seed: 2)
        let former = follower(on: reading)
        try former.lookForCollars(at: start.instant) { _ in }
        #expect(take(from: former, at: start) == [0, 1, 2, 3, 4])
        let state = try former.durableState()
        #expect(take(from: try restarted(state, on: reading), at: start) == [])
        disk.restore(nil)
        try store(0..<5, on: disk, latitude: 3)
        #expect(take(from: try restarted(state, on: reading), at: start) == [0, 1, 2, 3, 4])
    }

    private func restarted(_ state: ReaderState, on disk: SimulatedDisk) throws -> JournalFollower {
        let follower = follower(on: disk, former: state)
        try follower.lookForCollars(at: start.instant) { _ in }
        return follower
    }

    @Test func aFailureOfAnyOperationLosesNoEntry() throws {
        var failureCount = 0
        for operation in 0..<40 {
            let disk = SimulatedDisk(seed: 1)
            try store(0..<5, on: disk)
            let reading = SimulatedDisk(sharing: disk, seed: 2)
            reading.failed = { _ in failureCount += 1 }
            let follower = follower(on: reading)
            reading.faults.operationsUntilFailure = operation
            var sequences: [UInt32] = []
            // A reader that cannot list the state directory ends; another one begins.
            do throws(JournalError) { try follower.lookForCollars(at: start.instant) { _ in } } catch { continue }
            sequences += take(from: follower, at: start)
            sequences += take(from: follower, at: later)
            #expect(sequences == [0, 1, 2, 3, 4], "operation \(operation)")
        }
        #expect(failureCount > 6)
    }
}
