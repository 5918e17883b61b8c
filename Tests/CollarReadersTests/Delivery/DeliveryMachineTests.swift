import LinuxSystem
import Testing

@testable import CollarFormats
@testable import CollarReaders

private typealias Run = DeliveryBench.Run

private let failing = Run(end: .exitCode(1))
private let missing = Run(end: .notStarted(errorNumber: 2))

@Suite("A batch whose command fails") struct FailedDeliveryTests {
    /// The times between the starts of the command, in seconds.
    private func pauses(_ bench: DeliveryBench) -> [Double] { zip(bench.starts.dropFirst(), bench.starts).map { $0 - $1 } }

    @Test func isTriedAgainAfterPausesThatDoubleToFiveMinutes() throws {
        var shares: [Double] = []
        for seed in 1...50 as ClosedRange<UInt64> {
            var bench = try DeliveryBench(seed: seed)
            bench.runs = Array(repeating: failing, count: 12)
            bench.store(0..<3)
            bench.run(seconds: 3600)
            let longest: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
            #expect(pauses(bench).count == longest.count)
            shares += zip(pauses(bench), longest).map { $0 / $1 }
            #expect(bench.inputs == Array(repeating: [0, 1, 2], count: 13))
        }
        #expect(shares.allSatisfy { (0.5...1).contains($0) })
        // The pauses use the whole range.
        #expect(shares.contains { $0 < 0.6 } && shares.contains { $0 > 0.9 })
    }

    @Test func isTriedSoonAgainAfterOneSuccess() throws {
        var bench = try DeliveryBench()
        bench.runs = Array(repeating: failing, count: 6) + [Run(), failing]
        bench.store(0..<1)
        bench.run(seconds: 120)
        bench.store(1..<2)
        bench.run(seconds: 120)
        try #require(bench.inputs == Array(repeating: [0], count: 7) + [[1], [1]])
        #expect(pauses(bench)[5] >= 16)
        #expect((0.5...1).contains(pauses(bench)[7]))
    }

    @Test func isTriedSoonAgainAfterTheSuccessOfAnotherPart() throws {
        var bench = try DeliveryBench(["sink", "{collar}"])
        bench.runs = Array(repeating: failing, count: 6) + [Run(), failing]
        bench.store(0..<1)
        bench.store(7..<8, of: collarB)
        bench.run(seconds: 120)
        try #require(bench.inputs == Array(repeating: [0], count: 7) + [[7], [7]])
        #expect((0.5...1).contains(pauses(bench)[7]))
    }

    @Test func isReportedOnceAndWhenItSucceeds() throws {
        var bench = try DeliveryBench()
        bench.runs = [failing, Run(end: .signal(9)), missing]
        bench.store(0..<1)
        bench.run(seconds: 60)
        #expect(bench.notices == [.commandFailed(command: "sink", .exitCode(1)), .commandRecovered(command: "sink", attempts: 4)])
        bench.store(1..<2)
        bench.run(seconds: 60)
        #expect(bench.notices.count == 2)
    }

    @Test func holdsWhatIsStoredMeanwhileBack() throws {
        var bench = try DeliveryBench()
        bench.runs = [failing]
        bench.store(0..<2)
        bench.run(seconds: 0.1)
        bench.store(2..<4)
        bench.run(seconds: 1)
        #expect(bench.inputs == [[0, 1], [0, 1], [2, 3]])
    }

    @Test(arguments: [CommandEnd.exitCode(3), .signal(11)]) func endsADeliveryOnce(end: CommandEnd) throws {
        var bench = try DeliveryBench { $0.isOnce = true }
        bench.runs = [Run(end: end)]
        bench.store(0..<3)
        bench.run(seconds: 600)
        #expect(bench.error == .commandFailed(name: "sink", end))
        #expect(bench.isEnded)
        #expect(bench.starts == [0])
        #expect(bench.notices == [])
        #expect(bench.position == 0)
        // The program ends with this error alone.
        #expect(bench.needsPosition == nil)
    }

    @Test(arguments: [false, true]) func endsTheProgramIfTheFirstCommandCannotBeStarted(isOnce: Bool) throws {
        var bench = try DeliveryBench { $0.isOnce = isOnce }
        bench.runs = [missing]
        bench.store(0..<3)
        bench.run(seconds: 600)
        #expect(bench.error == .command(name: "sink", errorNumber: 2))
        #expect(bench.starts == [0])
        #expect(bench.notices == [])
    }

    @Test(arguments: [CommandEnd.exitCode(0), .exitCode(1)]) func isTriedAgainIfALaterCommandCannotBeStarted(first: CommandEnd) throws {
        var bench = try DeliveryBench(["sink", "{collar}"])
        bench.runs = [Run(end: first), missing, missing]
        bench.store(0..<1)
        bench.store(7..<8, of: collarB)
        bench.run(seconds: 60)
        #expect(bench.error == nil)
        #expect(bench.inputs.last == [7])
        #expect(bench.storedPosition == 2)
    }

    @Test func endsADeliveryOnceIfALaterCommandCannotBeStarted() throws {
        var bench = try DeliveryBench { ($0.isOnce, $0.batchCount) = (true, 2) }
        bench.runs = [Run(), missing]
        bench.store(0..<4)
        bench.run(seconds: 60)
        #expect(bench.error == .commandFailed(name: "sink", .notStarted(errorNumber: 2)))
        #expect(bench.storedPosition == 2)
    }
}

@Suite("When a batch begins") struct BatchStartTests {
    @Test func whatIsStoredIsDeliveredAtOnceAndThenWhatComes() throws {
        var bench = try DeliveryBench()
        bench.run(seconds: 5)
        #expect(bench.starts == [])
        bench.store(0..<3)
        bench.run(seconds: 5)
        bench.store(3..<4)
        bench.run(seconds: 5)
        #expect(bench.starts == [5, 10])
        #expect(bench.inputs == [[0, 1, 2], [3]])
        #expect((bench.machine.batchCount, bench.machine.entryCount) == (2, 4))
        #expect(bench.machine.nextDeadline == nil && !bench.machine.isBehind)
    }

    @Test func noBatchIsLargerThanItMayBe() throws {
        var bench = try DeliveryBench { $0.batchCount = 4 }
        bench.store(0..<15)
        bench.run(seconds: 0)
        #expect(bench.inputs.map(\.count) == [4, 4, 4, 3])
        #expect(bench.inputs.flatMap { $0 } == Array(0..<15))
        #expect(bench.machine.batchCount == 4)
    }

    @Test func theIntervalIsKeptAndCollectsWhatComes() throws {
        var bench = try DeliveryBench { $0.intervalMicroseconds = 60_000_000 }
        bench.store(0..<2)
        for sequence in 2..<6 as Range<UInt32> {
            bench.run(seconds: 10)
            bench.store(sequence..<sequence + 1)
        }
        bench.run(seconds: 100)
        #expect(bench.starts == [0, 60])
        #expect(bench.inputs == [[0, 1], [2, 3, 4, 5]])
        // The interval is over: the next batch begins at once.
        bench.store(6..<7)
        bench.run(seconds: 1)
        #expect(bench.starts == [0, 60, 140])
    }

    @Test func aFullBatchDoesNotWaitForTheInterval() throws {
        var bench = try DeliveryBench { ($0.intervalMicroseconds, $0.batchCount) = (60_000_000, 10) }
        bench.store(0..<25)
        bench.run(seconds: 5)
        #expect(bench.starts == [0, 0])
        bench.store(25..<30)
        bench.run(seconds: 5)
        #expect(bench.starts == [0, 0, 5])
        bench.store(30..<31)
        bench.run(seconds: 120)
        #expect(bench.starts == [0, 0, 5, 65])
    }

    @Test func theIntervalCountsFromTheStartOfABatch() throws {
        var bench = try DeliveryBench { $0.intervalMicroseconds = 60_000_000 }
        bench.runs = [Run(seconds: 100)]
        bench.store(0..<1)
        bench.run(seconds: 10)
        bench.store(1..<2)
        #expect(bench.machine.nextDeadline == nil, "a command that runs has no deadline")
        bench.run(seconds: 200)
        #expect(bench.starts == [0, 100])
    }

    @Test func aDeliveryOnceDoesNotWaitForTheInterval() throws {
        var bench = try DeliveryBench { ($0.isOnce, $0.intervalMicroseconds, $0.batchCount) = (true, 60_000_000, 4) }
        bench.store(0..<6)
        bench.run(seconds: 0)
        #expect(bench.inputs == [[0, 1, 2, 3], [4, 5]])
        #expect(bench.needsPosition == true)
        #expect(bench.storedPosition == 6)
    }

    @Test func aDeliveryOnceOfNothingStartsNoCommand() throws {
        var bench = try DeliveryBench { $0.isOnce = true }
        bench.store(0..<6, isWanted: false)
        bench.run(seconds: 0)
        #expect(bench.starts == [])
        #expect(bench.needsPosition == true)
        #expect(bench.storedPosition == 6)
    }

    @Test func animalsChangeWithABatch() throws {
        var bench = try DeliveryBench(["sink", "{name}", "{count}"]) { $0.intervalMicroseconds = 60_000_000 }
        bench.wear("Luna", collarA)
        bench.store(0..<2)
        bench.run(seconds: 1)
        #expect(bench.machine.beginsBatch)
        bench.store(2..<3)
        bench.run(seconds: 1)
        // The batch has begun with the former name.
        #expect(!bench.machine.beginsBatch)
        bench.wear("Nova", collarA)
        bench.run(seconds: 60)
        bench.store(3..<4)
        bench.run(seconds: 60)
        #expect(bench.words == [["sink", "Luna", "2"], ["sink", "Luna", "1"], ["sink", "Nova", "1"]])
    }
}

@Suite("The position of a delivery") struct DeliveryPositionTests {
    @Test func movesWhenAllPartsHaveSucceeded() throws {
        var bench = try DeliveryBench(["sink", "{collar}"])
        bench.runs = [Run(seconds: 1), Run(end: .exitCode(1), seconds: 1), Run(seconds: 1)]
        bench.store(0..<2)
        bench.store(7..<8, of: collarB)
        bench.run(seconds: 2.1)
        #expect(bench.inputs == [[0, 1], [7]])
        #expect(bench.position == 0)
        bench.run(seconds: 1)
        // The part that has succeeded is not repeated.
        #expect(bench.inputs == [[0, 1], [7], [7]])
        #expect(bench.position == 0)
        bench.run(seconds: 2)
        #expect((bench.position, bench.storedPosition) == (3, 3))
        #expect((bench.machine.batchCount, bench.machine.entryCount) == (1, 3))
    }

    @Test func isStoredFromTimeToTimeIfNothingIsWanted() throws {
        var bench = try DeliveryBench()
        for index in 0..<30 as Range<UInt32> {
            bench.store(index..<index + 1, isWanted: false)
            bench.run(seconds: 0.1)
            #expect(bench.position == Int(index) + 1)
        }
        #expect(bench.starts == [])
        #expect((bench.storingCount, bench.storedPosition) == (1, 1))
        bench.run(seconds: 6.9)
        #expect((bench.storingCount, bench.storedPosition) == (1, 1))
        // At 0 and 10 s, then not before something has moved.
        bench.run(seconds: 100)
        #expect((bench.storingCount, bench.storedPosition) == (2, 30))
        bench.store(30..<31, isWanted: false)
        bench.run(seconds: 0.1)
        #expect((bench.storingCount, bench.storedPosition) == (3, 31))
        bench.store(31..<32, isWanted: false)
        bench.run(seconds: 0.1)
        bench.tellToEnd()
        #expect(bench.storedPosition == 32)
    }

    @Test func doesNotPassWhatIsNotDelivered() throws {
        var bench = try DeliveryBench { $0.intervalMicroseconds = 60_000_000 }
        bench.store(0..<1)
        bench.run(seconds: 1)
        bench.store(1..<2)
        bench.run(seconds: 1)
        bench.store(0..<5, isWanted: false)
        bench.run(seconds: 10)
        #expect(bench.position == 1)
        bench.run(seconds: 60)
        #expect(bench.inputs == [[0], [1]])
        #expect(bench.storedPosition == 7)
    }

    @Test func passesFixesThatTheFormatLeavesOut() throws {
        var bench = try DeliveryBench { $0.reading.format.format = .homeassistant }
        bench.store(0..<3, accuracy: nil)
        bench.run(seconds: 1)
        #expect(bench.starts == [])
        #expect(bench.storedPosition == 3)
        bench.store(3..<5, accuracy: nil)
        bench.store(5..<6)
        bench.run(seconds: 1)
        #expect(bench.starts == [1])
        #expect(bench.storedPosition == 6)
        #expect(bench.notices == [.fixesLeftOut(Omission(format: .homeassistant, fixCount: nil))])
        bench.tellToEnd()
        #expect(bench.notices.dropFirst() == [.fixesLeftOut(Omission(format: .homeassistant, fixCount: 5))])
    }
}

@Suite("A deliverer that is told to end") struct EndOfDeliveryTests {
    private func bench(_ run: Run) throws -> DeliveryBench {
        var bench = try DeliveryBench()
        bench.runs = [run]
        bench.store(0..<3)
        bench.run(seconds: 2)
        return bench
    }

    @Test func killsACommandThatGoesOnForFiveSeconds() throws {
        var bench = try bench(Run(seconds: 600, isStubborn: true))
        bench.tellToEnd()
        #expect(bench.terminations == [2])
        bench.run(seconds: 4.9)
        #expect(!bench.isEnded && bench.kills == [])
        bench.run(seconds: 600)
        #expect(bench.kills == [7])
        #expect(bench.needsPosition == false)
        // The batch comes again.
        #expect(bench.starts == [0])
        #expect(bench.storedPosition == 0)
        #expect(bench.notices == [])
    }

    /// It may have taken only a part of its input.
    @Test func doesNotCountABatchWhoseCommandEndsCleanly() throws {
        var bench = try bench(Run(seconds: 600))
        bench.tellToEnd()
        bench.run(seconds: 0)
        #expect(bench.needsPosition == false)
        #expect(bench.storedPosition == 0)
        #expect(bench.kills == [])
        #expect(bench.machine.entryCount == 0)
    }

    @Test func doesNotEndWithTheFailureOfThatCommand() throws {
        var bench = try DeliveryBench { $0.isOnce = true }
        bench.runs = [Run(end: .exitCode(1), seconds: 600)]
        bench.store(0..<3)
        bench.run(seconds: 1)
        bench.tellToEnd()
        bench.run(seconds: 0)
        #expect(bench.error == nil)
        #expect(bench.needsPosition == true)
    }

    @Test func tellsTheCommandEachTime() throws {
        var bench = try bench(Run(seconds: 600, isStubborn: true))
        bench.tellToEnd()
        bench.run(seconds: 1)
        bench.tellToEnd()
        bench.run(seconds: 600)
        #expect(bench.terminations == [2, 3])
        #expect(bench.kills == [8])
    }

    @Test func endsAtOnceBetweenAttempts() throws {
        var bench = try DeliveryBench()
        bench.runs = Array(repeating: failing, count: 20)
        bench.store(0..<3)
        bench.run(seconds: 60)
        let count = bench.starts.count
        bench.tellToEnd()
        #expect(bench.isEnded)
        #expect(bench.needsPosition == false)
        bench.run(seconds: 600)
        #expect(bench.starts.count == count)
        #expect(bench.storedPosition == 0)
    }

    @Test func leavesABatchThatWaitsForTheInterval() throws {
        var bench = try DeliveryBench { $0.intervalMicroseconds = 60_000_000 }
        bench.store(0..<1)
        bench.run(seconds: 1)
        bench.store(1..<3)
        bench.run(seconds: 1)
        bench.tellToEnd()
        #expect(bench.isEnded)
        #expect(bench.inputs == [[0]])
        #expect(bench.storedPosition == 1)
    }
}
