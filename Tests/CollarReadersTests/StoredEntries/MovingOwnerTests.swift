import CollarARQ
import CollarErrors
import CollarFormats
import CollarJournal
import CollarTracking
import Glibc
import Testing

@testable import CollarReaders

/// An owner who moves while a reader runs.
@Suite struct MovingOwnerTests {
    private final class Receiver: OwnerReceiver {
        let descriptors: [pollfd] = []
        let nextDeadline: Instant? = nil
        var failure: UserMessage?
        var moved: Owner?

        func serve(at now: Instant) -> Owner? {
            defer { moved = nil }
            return moved
        }
    }

    private let bench: StoredReadingBench
    private let receiver = Receiver()
    private let ownerAndFixes: (inout ReadingConfiguration) -> Void = {
        $0.read([.owner, .fix])
        $0.format.owner = .moving(.gpsd, nil)
    }

    init() throws { bench = try StoredReadingBench() }

    private func position(_ latitude: Double) throws -> Position { try #require(Position(latitudeDegrees: latitude, longitudeDegrees: 0)) }

    private func move(_ entries: StoredEntries, to latitude: Double?) throws {
        receiver.moved = .moving(.gpsd, try latitude.map { try position($0) })
        try entries.lookForOwner(at: StoredReadingBench.time)
    }

    @Test func theLastMoveComesBeforeTheNextEntry() throws {
        try bench.append(1...1)
        let entries = try bench.entries(owner: receiver, ownerAndFixes)
        #expect(bench.take(entries) == ["@", "a1"])
        // Moves that no item has told yet are one.
        try move(entries, to: 50)
        try move(entries, to: 51)
        guard case .owner(let owner, let line?) = entries.next(at: StoredReadingBench.time) else { throw Missing() }
        #expect(owner == .moving(.gpsd, try position(51)))
        #expect(line == OwnerLine(owner, in: PlaceTable()).json(at: StoredReadingBench.time.unixMilliseconds))
        #expect(bench.take(entries) == [])
        // Without a change there is no line, and the fixes after it count from there all the same.
        try move(entries, to: 51)
        #expect(bench.take(entries) == ["-@"])
        try move(entries, to: nil)
        #expect(bench.take(entries) == ["@"])
    }

    @Test func withoutTheOwnersLinesTheOwnerCountsAllTheSame() throws {
        let entries = try bench.entries(owner: receiver) { $0.format.owner = .moving(.gpsd, nil) }
        try move(entries, to: 50)
        guard case .owner(.moving(.gpsd, let told), line: nil) = entries.next(at: StoredReadingBench.time) else { throw Missing() }
        #expect(told == (try position(50)))
        #expect(bench.take(try bench.entries()) == [])
    }

    @Test func aReceiverThatNeedsAPersonEndsTheReader() throws {
        let entries = try bench.entries(owner: receiver, ownerAndFixes)
        let message = UserMessage("/dev/null is not a serial port.")
        receiver.failure = message
        #expect(throws: ReaderError.owner(message)) { try entries.lookForOwner(at: StoredReadingBench.time) }
        #expect(ReaderError.owner(message).message == message)
    }

    /// The items of one batch, and those of the next.
    @Test func aBatchCountsFromTheOwnerAsItGrows() throws {
        let command = try #require(DeliveryCommand(words: ["sink"]))
        var configuration = DeliveryConfiguration(ReadingConfiguration(stateDirectory: bench.stateDirectory), command)
        configuration.reading.format.owner = .moving(.gpsd, nil)
        var (machine, random) = (DeliveryMachine(configuration), SystemRandomNumberGenerator())
        func input() throws -> [Bool] {
            while let output = machine.nextOutput() {
                guard case .start(_, let bytes) = output else { continue }
                machine.commandEnded(.exitCode(0), at: StoredReadingBench.time.instant, random: &random)
                return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.contains("distance_m") }
            }
            throw Missing()
        }
        try bench.append(1...3)
        let entries = try bench.entries()
        var fixes: [StoredItem] = []
        while let item = entries.next(at: StoredReadingBench.time) { fixes.append(item) }
        let owner = StoredItem.owner(.moving(.gpsd, try position(50)), line: Array("{}\n".utf8))
        machine.take([fixes[0], owner, fixes[1]], isComplete: true, at: StoredReadingBench.time.instant)
        #expect(try input() == [false, false, true])
        machine.take([fixes[2]], isComplete: true, at: StoredReadingBench.time.instant)
        #expect(try input() == [true])
    }

    private struct Missing: Error {}
}
