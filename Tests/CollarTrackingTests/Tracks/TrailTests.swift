import CollarWire
import Testing

@testable import CollarTracking

@Suite("The newest fixes of a log")
struct TrailTests {
    private func fix(_ sequence: UInt32, seconds: Int64) -> Fix {
        Fix(sequence: sequence, unixMilliseconds: 1_700_000_000_000 + seconds * 1000, latitudeSteps: 1, longitudeSteps: 2)
    }

    private func trail(_ sequences: UInt32..., limit: Int = 3) -> Trail<Fix> {
        var trail = Trail<Fix>(limit: limit)
        for sequence in sequences { trail.add(fix(sequence, seconds: 10 * Int64(sequence))) }
        return trail
    }

    @Test("fixes are in the order of their sequences, each once; a late one is never the latest")
    func order() {
        let trail = trail(7, 2, 9, 7, 5, limit: 10)
        #expect(trail.fixes.map(\.sequence) == [2, 5, 7, 9])
        #expect(trail.latest?.sequence == 9)
        #expect(self.trail().latest == nil)
    }

    @Test("of more fixes than the limit, the newest stay")
    func limit() {
        #expect(trail(1, 2, 3, 4).fixes.map(\.sequence) == [2, 3, 4])
        #expect(trail(4, 5, 6, 1).fixes.map(\.sequence) == [4, 5, 6])
        #expect(trail(4, 6, 7, 5).fixes.map(\.sequence) == [5, 6, 7])
        #expect(Trail<Fix>().limit == 100)
    }

    private struct Entry: TrailFix {
        var trailLog: Int
        var sequence: Int
        var unixMilliseconds: Int64
    }

    @Test("the times order fixes of several logs, and the sequences those of one log, also where its clock went back")
    func severalLogs() {
        var trail = Trail<Entry>()
        let first = Entry(trailLog: 1, sequence: 5, unixMilliseconds: 1000)
        let other = Entry(trailLog: 2, sequence: 0, unixMilliseconds: 3000)
        let late = Entry(trailLog: 1, sequence: 4, unixMilliseconds: 9000)
        let back = Entry(trailLog: 1, sequence: 6, unixMilliseconds: 500)
        for fix in [first, other, late, first] { trail.add(fix) }
        #expect(trail.fixes == [late, first, other])
        #expect(trail.interval == nil)
        trail.add(back)
        #expect(trail.fixes.filter { $0.trailLog == 1 } == [late, first, back])
    }

    @Test("the interval is the time between the newest two fixes, divided by the fixes made meanwhile, 0 s to a day")
    func interval() {
        #expect(trail(4).interval == nil)
        #expect(trail(1, 4, 8).interval?.milliseconds == 10_000)
        #expect(FixInterval(milliseconds: -5, fixCount: 1).milliseconds == 0)
        #expect(FixInterval(milliseconds: 7000, fixCount: 0).milliseconds == 7000)
        #expect(FixInterval(milliseconds: 200_000_000, fixCount: 2).milliseconds == 86_400_000)
    }

    @Test("a fix is stale after three intervals, and not within a minute")
    func staleness() {
        let start: Int64 = 1_700_000_000_000
        #expect(trail(1).isStale(at: start + 1_000_000_000) == nil)
        let fast = trail(1, 2)
        #expect(fast.isStale(at: start + 79_999) == false)
        #expect(fast.isStale(at: start + 80_000) == true)
        var slow = Trail<Fix>()
        slow.add(fix(1, seconds: 0))
        slow.add(fix(2, seconds: 600))
        #expect(slow.isStale(at: start + 2_399_999) == false)
        #expect(slow.isStale(at: start + 2_400_000) == true)
    }
}

@Suite("Words for a collar")
struct WordsTests {
    @Test(
        "an accuracy has the word of its code",
        arguments: [
            (0, .excellent), (4600, .excellent), (5000, .good), (10_000, .good), (10_100, .fair), (50_000, .fair), (52_000, .poor),
            (3_000_000, .poor),
        ] as [(UInt32, AccuracyGrade)])
    func accuracy(millimeters: UInt32, grade: AccuracyGrade) {
        #expect(AccuracyGrade(AccuracyCode(nearestToMillimeters: millimeters)) == grade)
    }

    @Test func aCollarIsConnectingUntilItIsHeard() {
        #expect(Connection(isListenedTo: false, isReachable: true) == nil)
        #expect(Connection(isListenedTo: true, isReachable: nil) == .connecting)
        #expect(Connection(isListenedTo: true, isReachable: false) == .notReachable)
        #expect(Connection(isListenedTo: true, isReachable: true) == .connected)
    }
}
