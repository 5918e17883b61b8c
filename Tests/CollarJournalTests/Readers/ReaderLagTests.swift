import CollarWire
import Testing

@testable import CollarJournal

/// How far a named reader lags behind several journals.
@Suite struct ReaderLagTests {
    private let disk = MemoryFileSystem()
    private let collars: [DeviceID] = [collar, otherCollar, 0x0123_4567_89AB_CDF1]

    /// Journals of three collars. Each has fixes 0 to 9.
    init() throws {
        for (index, deviceID) in collars.enumerated() {
            let journal = try Journal.open(
                stateDirectory: "/state", deviceID: deviceID, receiverID: receiver, nowUnixMilliseconds: received(0, index),
                fileSystem: disk)
            for sequence in 0..<10 as Range<UInt32> { #expect(try journal.append(record(sequence, at: received(sequence, index)))) }
            try journal.commit()
        }
    }

    /// The second collar was heard first, the first one last.
    private func received(_ sequence: UInt32, _ index: Int) -> Int64 {
        1_700_000_000_000 + Int64(sequence) * 1000 + [200_000, 0, 100_000][index]
    }

    /// A reader that has taken `count` fixes of each collar.
    private func state(taken counts: [UInt32], of wanted: Set<DeviceID>? = nil) throws -> ReaderState {
        var state = ReaderState(collars: wanted, seenUnixMilliseconds: 0)
        for (deviceID, count) in zip(collars, counts) where count > 0 {
            let reader = try JournalReader(stateDirectory: "/state", deviceID: deviceID, fileSystem: disk)
            let place = try #require(try reader.position(behind: count - 1, logID: log))
            state.positions[deviceID] = try reader.identified(place)
        }
        return state
    }

    private func lag(_ state: ReaderState) throws -> ReaderLag { try state.lag(stateDirectory: "/state", fileSystem: disk) }

    private func expected(_ count: Int, oldest: Int64?) -> ReaderLag {
        var lag = ReaderLag()
        (lag.entryCount, lag.oldestUnixMilliseconds) = (count, oldest)
        return lag
    }

    @Test func itIsTheSumOfAllJournalsAndTheOldestOfThem() throws {
        #expect(try lag(state(taken: [])) == expected(30, oldest: received(0, 1)))
        #expect(try lag(state(taken: [4, 8, 7])) == expected(11, oldest: received(8, 1)))
        #expect(try lag(state(taken: [4, 10, 7])) == expected(9, oldest: received(7, 2)))
        #expect(try lag(state(taken: [9, 10, 10])) == expected(1, oldest: received(9, 0)))
    }

    @Test func aReaderOfEverythingHasNone() throws { #expect(try lag(state(taken: [10, 10, 10])) == expected(0, oldest: nil)) }

    @Test func collarsThatItDoesNotReadDoNotCount() throws {
        #expect(try lag(state(taken: [], of: [collars[1]])) == expected(10, oldest: received(0, 1)))
        #expect(try lag(state(taken: [3, 2], of: [collars[0], collars[1]])) == expected(15, oldest: received(2, 1)))
        #expect(try lag(state(taken: [], of: [])) == expected(0, oldest: nil))
    }

    @Test func kindsThatItDoesNotTakeDoNotCount() throws {
        var messages = try state(taken: [])
        messages.takesFixes = false
        #expect(try lag(messages) == expected(0, oldest: nil))
    }
}
