import LinuxSystem
import Testing

@testable import CollarFormats
@testable import CollarReaders

private typealias Run = DeliveryBench.Run

private let failing = Run(end: .exitCode(1))

/// The second batch, part or failure after the first.
@Suite("Several deliveries") struct SeveralDeliveriesTests {
    private func failed(_ end: CommandEnd = .exitCode(1)) -> FollowerNotice { .commandFailed(command: "sink", end) }

    private func recovered(_ attempts: Int) -> FollowerNotice { .commandRecovered(command: "sink", attempts: attempts) }

    @Test func eachPartHasFailuresOfItsOwn() throws {
        var bench = try DeliveryBench(["sink", "{collar}"])
        bench.runs = [failing, failing, Run(), Run(end: .signal(9)), Run()]
        bench.store(0..<1)
        bench.store(7..<8, of: collarB)
        bench.run(seconds: 60)
        #expect(bench.notices == [failed(), recovered(3), failed(.signal(9)), recovered(2)])
        #expect(bench.inputs == [[0], [0], [0], [7], [7]])
    }

    @Test func eachBatchHasFailuresOfItsOwn() throws {
        var bench = try DeliveryBench { $0.batchCount = 2 }
        bench.runs = [failing, Run(), Run(), failing, failing, Run()]
        bench.store(0..<6)
        bench.run(seconds: 60)
        #expect(bench.notices == [failed(), recovered(2), failed(), recovered(3)])
        #expect(bench.inputs == [[0, 1], [0, 1], [2, 3], [4, 5], [4, 5], [4, 5]])
        #expect((bench.machine.batchCount, bench.machine.entryCount, bench.storedPosition) == (3, 6, 6))
    }

    @Test func thePositionMovesWithEachBatch() throws {
        var bench = try DeliveryBench { $0.batchCount = 2 }
        bench.runs = [Run(seconds: 10), Run(seconds: 10), Run(seconds: 10)]
        bench.store(0..<5)
        for (seconds, position) in [(5.0, 0), (10, 2), (10, 4), (10, 5)] {
            bench.run(seconds: seconds)
            #expect(bench.storedPosition == position)
            #expect(bench.position == position)
        }
        #expect(bench.starts == [0, 10, 20])
        #expect(bench.storingCount == 3)
    }

    @Test func oneBatchTakesAllThatFits() throws {
        for (count, sizes) in [(3, [3]), (4, [4]), (5, [4, 1]), (8, [4, 4])] as [(UInt32, [Int])] {
            var bench = try DeliveryBench { ($0.isOnce, $0.batchCount) = (true, 4) }
            bench.store(0..<count)
            bench.run(seconds: 0)
            #expect(bench.inputs.map(\.count) == sizes)
            #expect(bench.needsPosition == true)
            #expect(bench.storedPosition == Int(count))
        }
    }

    @Test func whatIsNotWantedTakesNoRoom() throws {
        var bench = try DeliveryBench { $0.batchCount = 2 }
        for index in 0..<4 as Range<UInt32> {
            bench.store(100 + index..<101 + index, isWanted: false)
            bench.store(index..<index + 1)
        }
        bench.store(200..<203, isWanted: false)
        bench.run(seconds: 5)
        #expect(bench.inputs.flatMap { $0 } == [0, 1, 2, 3])
        #expect(bench.inputs.allSatisfy { $0.count <= 2 })
        #expect(bench.position == 11)
        #expect(bench.machine.entryCount == 4)
    }

    @Test func aDeliveryOnceEndsWithTheFailureOfItsSecondPart() throws {
        var bench = try DeliveryBench(["sink", "{collar}"]) { $0.isOnce = true }
        bench.runs = [Run(), failing]
        bench.store(0..<2)
        bench.store(7..<8, of: collarB)
        bench.run(seconds: 60)
        #expect(bench.error == .commandFailed(name: "sink", .exitCode(1)))
        #expect(bench.position == 0, "the batch comes again as a whole")
        #expect(bench.notices == [])
    }

    @Test func aDeliveryOnceEndsAfterItsUnwantedRest() throws {
        var bench = try DeliveryBench { ($0.isOnce, $0.batchCount) = (true, 2) }
        bench.store(0..<2)
        bench.store(10..<15, isWanted: false)
        bench.run(seconds: 0)
        #expect(bench.isEnded)
        #expect(bench.inputs == [[0, 1]])
        #expect(bench.storedPosition == 7)
    }

    @Test func theIntervalBeginsAgainWithEachBatch() throws {
        var bench = try DeliveryBench { $0.intervalMicroseconds = 60_000_000 }
        for _ in 0..<4 {
            bench.store(0..<1)
            bench.run(seconds: 45)
        }
        bench.run(seconds: 60)
        #expect(bench.starts == [0, 60, 120, 180])
        #expect(bench.inputs.map(\.count) == [1, 1, 1, 1])
    }

    @Test func theIntervalIsNotShortenedByFailures() throws {
        var bench = try DeliveryBench { $0.intervalMicroseconds = 60_000_000 }
        bench.runs = [failing, Run()]
        bench.store(0..<1)
        bench.run(seconds: 10)
        bench.store(1..<2)
        bench.run(seconds: 100)
        #expect(bench.inputs == [[0], [0], [1]])
        #expect(bench.starts.last == 60)
    }

    @Test func unwantedEntriesAfterABatchAreStoredTenSecondsAfterIt() throws {
        var bench = try DeliveryBench()
        bench.store(0..<1)
        bench.run(seconds: 0.5)
        #expect(bench.storingCount == 1)
        bench.store(10..<11, isWanted: false)
        bench.run(seconds: 9.4)
        #expect((bench.position, bench.storedPosition) == (2, 1))
        bench.run(seconds: 0.1)
        #expect((bench.position, bench.storedPosition, bench.storingCount) == (2, 2, 2))
        bench.store(11..<12, isWanted: false)
        bench.run(seconds: 0.1)
        #expect((bench.position, bench.storedPosition, bench.storingCount) == (3, 2, 2))
    }

    @Test func animalsThatChangeMeanwhileAreThoseOfTheNextBatch() throws {
        var bench = try DeliveryBench(["sink", "{name}"])
        bench.wear("Luna", collarA)
        bench.runs = [Run(seconds: 10), Run(end: .exitCode(1), seconds: 1)]
        bench.store(0..<1)
        bench.run(seconds: 5)
        bench.wear("Nova", collarA)
        bench.store(1..<2)
        bench.run(seconds: 60)
        #expect(bench.words == [["sink", "Luna"], ["sink", "Nova"], ["sink", "Nova"]])
    }

    @Test func nothingFollowsTheEnd() throws {
        var bench = try DeliveryBench()
        bench.store(0..<1)
        bench.run(seconds: 1)
        bench.tellToEnd()
        #expect(bench.isEnded)
        bench.tellToEnd()
        bench.store(1..<3)
        bench.run(seconds: 600)
        #expect(bench.starts == [0])
        #expect(bench.terminations == [])
        #expect(bench.machine.room == 0 && !bench.machine.isBehind && bench.machine.nextDeadline == nil)
    }

    @Test func aKilledCommandIsWaitedFor() throws {
        var bench = try DeliveryBench()
        bench.runs = [Run(seconds: 600, isStubborn: true)]
        bench.store(0..<1)
        bench.run(seconds: 1)
        bench.tellToEnd()
        #expect(bench.machine.nextDeadline?.microseconds(since: bench.now) == 5_000_000)
        bench.run(seconds: 20)
        #expect(bench.kills == [6])
        #expect(bench.isEnded)
        #expect(bench.error == nil)
    }
}
