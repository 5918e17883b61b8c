import CollarARQ
import Testing

@testable import CollarHost

private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1000) }

/// Holds a value, so that a call in an expectation can change the value.
private final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

extension Box<TokenBucket> {
    func take(at now: Instant) -> Bool { value.take(at: now) }
    func earn(_ count: Int) { value.earn(count) }
}

extension Box<NoticeLimiter<Misbehaviour>> {
    func isDue(_ misbehaviour: Misbehaviour, at now: Instant) -> Bool { value.isDue(misbehaviour.kind, at: now) }
}

struct TokenBucketTests {
    private func bucket() -> Box<TokenBucket> { Box(TokenBucket(capacity: 3, microsecondsPerToken: 100_000)) }

    @Test func aFullBucketGivesItsCapacityAtOnce() {
        let bucket = bucket()
        #expect((0..<5).map { _ in bucket.take(at: at(0)) } == [true, true, true, false, false])
    }

    @Test func tokensComeInOneByOne() {
        let bucket = bucket()
        for _ in 0..<3 { #expect(bucket.take(at: at(0))) }
        #expect(!bucket.take(at: at(99)))
        #expect(bucket.take(at: at(100)))
        #expect(!bucket.take(at: at(199)))
        // The 50 ms since the last token was added count towards the next token.
        #expect(bucket.take(at: at(250)))
        #expect(bucket.take(at: at(300)))
        #expect(!bucket.take(at: at(399)))
    }

    @Test func aLongTimeFillsItAndNoMore() {
        let bucket = bucket()
        for _ in 0..<3 { #expect(bucket.take(at: at(0))) }
        #expect((0..<4).map { _ in bucket.take(at: at(1_000_000)) } == [true, true, true, false])
    }

    @Test func aFullBucketDoesNotSaveTime() {
        let bucket = bucket()
        #expect(bucket.take(at: at(1_000_000)))
        #expect(bucket.take(at: at(1_000_050)))
        #expect(bucket.take(at: at(1_000_099)))
        #expect(!bucket.take(at: at(1_000_099)))
        #expect(bucket.take(at: at(1_000_100)))
    }

    @Test func whatIsEarnedFindsRoomUpToTheCapacity() {
        let bucket = bucket()
        for _ in 0..<3 { #expect(bucket.take(at: at(0))) }
        bucket.earn(2)
        #expect((0..<3).map { _ in bucket.take(at: at(0)) } == [true, true, false])
        bucket.earn(16)
        #expect((0..<4).map { _ in bucket.take(at: at(0)) } == [true, true, true, false])
    }

    @Test func aClockThatStandsOrGoesBackGivesNothing() {
        let bucket = bucket()
        for _ in 0..<3 { #expect(bucket.take(at: at(1000))) }
        #expect(!bucket.take(at: at(0)))
        #expect(!bucket.take(at: at(1000)))
    }
}

struct NoticeLimiterTests {
    @Test func eachKindIsSaidOnceAMinute() {
        let limiter = Box(NoticeLimiter<Misbehaviour>())
        #expect(limiter.isDue(.tooManyPolls, at: at(5)))
        #expect(!limiter.isDue(.tooManyPolls, at: at(60_004)))
        #expect(limiter.isDue(.tooManyLogs, at: at(60_004)))
        #expect(limiter.isDue(.tooManyPolls, at: at(60_005)))
        #expect(!limiter.isDue(.tooManyPolls, at: at(60_006)))
    }
}
