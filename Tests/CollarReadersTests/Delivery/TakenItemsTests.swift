import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import LinuxSystem
import Testing

@testable import CollarReaders

/// Items that a deliverer takes in several pieces, because signals are handled in between.
@Suite("Items in several pieces") struct TakenItemsTests {
    private func machine(
        _ words: [String] = ["sink", "{count}"], _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) throws -> DeliveryMachine {
        let command = try #require(DeliveryCommand(words: words))
        var configuration = DeliveryConfiguration(ReadingConfiguration(stateDirectory: "/state"), command)
        change(&configuration)
        return DeliveryMachine(configuration)
    }

    private func items(_ sequences: ClosedRange<UInt32>, isWanted: Bool = true) -> [StoredItem] {
        sequences.map { sequence in
            let fix = Fix(sequence: sequence, unixMilliseconds: 0, latitudeSteps: 1, longitudeSteps: 2)
            let content = EmittedEntry.Content.fix(JournaledFix(logID: 1, receivedUnixMilliseconds: 0, fix: fix))
            return .entry(EmittedEntry(content: content, deviceID: collarA, receipt: FollowBench.receipt(sequence)), isWanted: isWanted)
        }
    }

    private func receipts(_ offsets: ClosedRange<UInt32>) -> [StoredReceipt] {
        offsets.map { .entry(FollowBench.receipt($0), hasID: true) }
    }

    private func time(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func outputs(_ machine: inout DeliveryMachine) -> [DeliveryMachine.Output] {
        var all: [DeliveryMachine.Output] = []
        while let output = machine.nextOutput() { all.append(output) }
        return all
    }

    /// The words of the command that starts; nil if it does not.
    private func started(_ machine: inout DeliveryMachine) -> [String]? {
        for case .start(let words, _) in outputs(&machine) { return words }
        return nil
    }

    @Test func aBatchWaitsForTheRestOfWhatIsStored() throws {
        var machine = try machine { $0.batchCount = 10 }
        machine.take(items(1...3), isComplete: false, at: time(0))
        #expect(outputs(&machine) == [] && machine.isBehind && machine.room == 7 && !machine.beginsBatch)
        machine.take(items(4...5), isComplete: true, at: time(0))
        #expect(started(&machine) == ["sink", "5"])
        #expect(machine.room == 0 && !machine.isBehind)
    }

    @Test func aFullBatchDoesNotWait() throws {
        var machine = try machine { ($0.batchCount, $0.intervalMicroseconds) = (3, 60_000_000) }
        machine.take(items(1...2), isComplete: false, at: time(0))
        #expect(outputs(&machine) == [])
        machine.take(items(3...3), isComplete: false, at: time(0))
        #expect(started(&machine) == ["sink", "3"])
    }

    /// The interval is over, but entries wait that the batch does not have yet.
    @Test func theIntervalThatIsOverDoesNotStartAnIncompleteBatch() throws {
        var machine = try machine { $0.intervalMicroseconds = 10_000_000 }
        var random = SystemRandomNumberGenerator()
        machine.take(items(1...1), isComplete: true, at: time(0))
        #expect(started(&machine) == ["sink", "1"])
        machine.commandEnded(.exitCode(0), at: time(1), random: &random)
        #expect(outputs(&machine) == [.move(past: receipts(1...1), isStored: true)])
        machine.take(items(2...3), isComplete: true, at: time(9.999))
        #expect(outputs(&machine) == [] && !machine.isBehind && machine.nextDeadline == time(10))
        machine.take(items(4...4), isComplete: false, at: time(10))
        #expect(outputs(&machine) == [] && machine.isBehind)
        machine.take([], isComplete: true, at: time(10))
        #expect(started(&machine) == ["sink", "3"])
    }

    @Test func aDeliveryOnceGoesOnAfterUnwantedItems() throws {
        var machine = try machine { $0.isOnce = true }
        machine.take(items(1...3, isWanted: false), isComplete: false, at: time(0))
        #expect(outputs(&machine) == [.move(past: receipts(1...3), isStored: true)])
        #expect(!machine.isEnded && machine.isBehind)
        machine.take(items(4...4), isComplete: true, at: time(0))
        #expect(started(&machine) == ["sink", "1"])
    }

    @Test func aDeliveryOnceEndsWhenNothingIsLeft() throws {
        var machine = try machine { $0.isOnce = true }
        machine.take([], isComplete: true, at: time(0))
        #expect(outputs(&machine) == [.end(needsPosition: true)])
        #expect(machine.isEnded)
        var lasting = try self.machine()
        lasting.take([], isComplete: true, at: time(0))
        #expect(outputs(&lasting) == [] && !lasting.isEnded && !lasting.isBehind)
    }

    @Test func eachPartIsStartedWithItsOwnCountAndCollar() throws {
        var machine = try machine(["sink", "{collar}", "{count}"])
        var random = SystemRandomNumberGenerator()
        var all = items(1...3)
        if case .entry(let entry, _)? = all.popLast() {
            all.append(.entry(EmittedEntry(content: entry.content, deviceID: collarB, receipt: entry.receipt), isWanted: true))
        }
        machine.take(all, isComplete: true, at: time(0))
        #expect(started(&machine) == ["sink", "000000000000000a", "2"])
        machine.commandEnded(.exitCode(0), at: time(0), random: &random)
        #expect(started(&machine) == ["sink", "000000000000000b", "1"])
        #expect(machine.entryCount == 2 && machine.batchCount == 0)
        machine.commandEnded(.exitCode(0), at: time(0), random: &random)
        #expect(outputs(&machine) == [.move(past: receipts(1...3), isStored: true)])
        #expect(machine.entryCount == 3 && machine.batchCount == 1)
    }

    @Test func anotherExitCodeThanZeroIsAFailure() throws {
        for end in [CommandEnd.exitCode(1), .exitCode(255), .exitCode(-1), .signal(15), .signal(0)] {
            var machine = try machine()
            var random = SystemRandomNumberGenerator()
            machine.take(items(1...1), isComplete: true, at: time(0))
            _ = outputs(&machine)
            machine.commandEnded(end, at: time(5), random: &random)
            #expect(outputs(&machine) == [.report(.commandFailed(command: "sink", end))])
            let due = try #require(machine.nextDeadline)
            #expect(time(5.5) <= due && due <= time(6))
            machine.deadlineReached(at: due.advanced(byMicroseconds: -1))
            #expect(outputs(&machine) == [])
            machine.deadlineReached(at: due)
            #expect(started(&machine) == ["sink", "1"])
        }
    }
}
