import CollarARQ
import Testing

@testable import CollarSimulator

/// The searches of a simulated GNSS receiver.
@Suite struct SimulatedSearchTests {
    private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

    @Test func eachSearchHasOnePosition() {
        var search = SimulatedSearch()
        #expect(search.positionDue == nil)
        for start: Int64 in [10, 100] {
            search.note(isSearching: true, now: at(start))
            // A search that goes on does not begin again.
            search.note(isSearching: true, now: at(start + 5))
            #expect(search.positionDue == at(start + 8))
            let taken: [Bool] = [7, 9, 10].map { search.takePosition(now: at(start + $0)) }
            #expect(taken == [false, true, false])
            search.note(isSearching: false, now: at(start + 10))
        }
    }

    @Test func aSearchThatIsEndedHasNoPosition() {
        var search = SimulatedSearch()
        search.note(isSearching: true, now: at(10))
        search.note(isSearching: false, now: at(12))
        let isTaken = search.takePosition(now: at(60))
        #expect(search.positionDue == nil && !isTaken)
    }

    @Test func someSearchesTakeLongAndSomeFail() {
        var search = SimulatedSearch(microseconds: 2_000_000...60_000_000, failureProbability: 0.3, seed: 1)
        var times: [Int64] = []
        for _ in 0..<1000 {
            search.note(isSearching: true, now: at(0))
            if let due = search.positionDue { times.append(due.microseconds(since: at(0))) }
            search.note(isSearching: false, now: at(90))
        }
        #expect((650...750).contains(times.count))
        #expect(times.allSatisfy { (2_000_000...60_000_000).contains($0) })
        #expect((times.min() ?? 0) < 4_000_000 && (times.max() ?? 0) > 58_000_000)
    }
}
