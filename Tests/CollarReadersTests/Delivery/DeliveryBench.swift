import CollarARQ
import CollarConfiguration
import CollarFormats
import CollarJournal
import CollarSimulator
import CollarWire
import LinuxSystem
import Testing

@testable import CollarReaders

let collarA: DeviceID = 0xA
let collarB: DeviceID = 0xB

/// A delivery machine, with stored entries and a command, in virtual time.
struct DeliveryBench {
    /// How the command behaves in one run.
    struct Run {
        var end = CommandEnd.exitCode(0)
        var seconds = 0.0
        /// Whether it goes on when it is told to end.
        var isStubborn = false
    }

    /// The most turns; a machine that needs more goes round without an end.
    private static let turnLimit = 10_000

    private(set) var machine: DeliveryMachine
    private var turnCount = 0
    private(set) var now = Instant(microseconds: 0)
    /// Stored items that were not taken yet.
    private var stored: [StoredItem] = []
    private var storedCount = 0
    /// The next runs of the command; it succeeds at once when there are no more.
    var runs: [Run] = []
    private var running: (run: Run, until: Instant)?
    /// When each run has begun, in seconds since the start.
    private(set) var starts: [Double] = []
    /// The sequences of the fixes that each run got.
    private(set) var inputs: [[UInt32]] = []
    /// The words of each run.
    private(set) var words: [[String]] = []
    /// How many items are before the position, and before the stored one.
    private(set) var position = 0
    private(set) var storedPosition = 0
    private(set) var storingCount = 0
    private(set) var notices: [FollowerNotice] = []
    /// When the command was told to end, and when it was killed, in seconds since the start.
    private(set) var terminations: [Double] = []
    private(set) var kills: [Double] = []
    /// How the program has ended: with a position that must be stored, or with an error.
    private(set) var needsPosition: Bool?
    private(set) var error: ReaderError?
    private var random = SeededRandom(seed: 1)

    init(_ words: [String] = ["sink"], seed: UInt64 = 1, _ change: (inout DeliveryConfiguration) -> Void = { _ in }) throws {
        var configuration = DeliveryConfiguration(ReadingConfiguration(stateDirectory: "/state"), try #require(DeliveryCommand(words: words)))
        change(&configuration)
        machine = DeliveryMachine(configuration)
        random = SeededRandom(seed: seed)
    }

    var seconds: Double { Double(now.microseconds) / 1_000_000 }
    var isEnded: Bool { machine.isEnded }

    // MARK: What is stored

    /// A fix is stored for each sequence.
    mutating func store(_ sequences: Range<UInt32>, of collar: DeviceID = collarA, isWanted: Bool = true, accuracy: UInt8? = 56) {
        for sequence in sequences {
            storedCount += 1
            let fix = Fix(
                sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 2,
                horizontalAccuracy: accuracy.flatMap(AccuracyCode.init(rawValue:)))
            let receipt = EmissionReceipt(
                session: SessionID(index: 0), through: JournalPosition(segment: 1, offset: UInt32(storedCount)))
            let content = EmittedEntry.Content.fix(JournaledFix(logID: 1, receivedUnixMilliseconds: 0, fix: fix))
            stored.append(.entry(EmittedEntry(content: content, deviceID: collar, receipt: receipt), isWanted: isWanted))
        }
    }

    mutating func wear(_ name: String, _ collar: DeviceID) {
        machine.annotations.deployments = DeploymentTable([Deployment(animal: Animal(name: name), deviceID: collar)])
    }

    // MARK: The program

    mutating func run(seconds: Double) {
        let last = now.advanced(byMicroseconds: Int64(seconds * 1_000_000))
        turn()
        while !isEnded, let due = Instant.earliest(machine.nextDeadline, running?.until), due <= last {
            guard turnCount < DeliveryBench.turnLimit else {
                Issue.record("The machine goes round without an end.")
                return
            }
            now = max(now, due)
            if let running, running.until <= now { finish(running.run.end) }
            machine.deadlineReached(at: now)
            turn()
        }
        now = max(now, last)
    }

    mutating func tellToEnd() {
        machine.toldToEnd(at: now)
        obey()
    }

    private mutating func turn() {
        turnCount += 1
        obey()
        repeat {
            let count = min(machine.room, stored.count)
            let isComplete = count < machine.room
            machine.take(Array(stored.prefix(count)), isComplete: isComplete, at: now)
            stored.removeFirst(count)
            obey()
            // A run without a time ends in the same turn.
            while let running, running.until <= now { finish(running.run.end) }
        } while machine.isBehind && machine.room > 0
    }

    private mutating func finish(_ end: CommandEnd) {
        running = nil
        machine.commandEnded(end, at: now, random: &random)
        obey()
    }

    private mutating func obey() {
        while let output = machine.nextOutput() {
            switch output {
            case .start(let words, let input): start(words, input)
            case .terminate:
                terminations.append(seconds)
                if running?.run.isStubborn == false { running?.until = now }
            case .kill:
                kills.append(seconds)
                running?.run.end = .signal(9)
                running?.until = now
            case .move(let receipts, let isStored):
                for case .entry(let receipt, _) in receipts { position = max(position, Int(receipt.through?.offset ?? 0)) }
                if isStored {
                    storedPosition = position
                    storingCount += 1
                }
            case .report(let notice): notices.append(notice)
            case .end(let needsPosition):
                storedPosition = position
                self.needsPosition = needsPosition
            case .fail(let error): self.error = error
            }
        }
    }

    private mutating func start(_ words: [String], _ input: [UInt8]) {
        #expect(running == nil, "one command runs at a time")
        let run = runs.isEmpty ? Run() : runs.removeFirst()
        starts.append(seconds)
        self.words.append(words)
        inputs.append(
            String(decoding: input, as: UTF8.self).split(separator: "\n").compactMap { line in
                (try? JSONScanner.value(of: Array(line.utf8)))?["seq"]?.integer(in: 0...UInt32.max)
            })
        if case .notStarted(let errorNumber) = run.end {
            machine.notStarted(errorNumber: errorNumber, at: now, random: &random)
        } else {
            running = (run, now.advanced(byMicroseconds: Int64(run.seconds * 1_000_000)))
        }
    }
}
