import CollarARQ
import Testing

@testable import RadioModems

/// A link on which a byte takes a second of airtime, or as much of it as a test says.
@Suite("Answers at the limits of a region") struct AnswerQueueTests {
    private static let start = Instant(microseconds: 0)
    private static let dwell: Int64 = 100_000

    private func queue(_ limits: TransmitLimits, millisecondsPerByte: Int64) -> AnswerQueue {
        let profile = ModemProfile(
            nanosecondsPerByte: millisecondsPerByte * 1_000_000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: 800_000)
        return AnswerQueue(limits: limits, frequencyHertz: 869_525_000, profile: profile, isRested: true, at: Self.start)
    }

    /// The sizes of the packets of an answer that are sent at a time; nil if the answer is dropped.
    private func sent(_ queue: inout AnswerQueue, _ byteCounts: [Int], _ output: inout ModemOutput, seconds: Int64 = 0) -> [Int]? {
        let now = Instant(microseconds: seconds * 1_000_000)
        queue.add(byteCounts.map { [UInt8](repeating: 1, count: $0) }, at: now)
        return queue.next(at: now, reportingTo: &output)?.map(\.count)
    }

    @Test("a packet that lasts as long as the dwell time is sent, and none that lasts longer", arguments: [
        ([100], [100]), ([101], nil), ([101, 1], [1]), ([1, 101], [1]), ([1, 101, 100], [1, 100]), ([101, 255], nil),
    ] as [([Int], [Int]?)])
    func dwell(byteCounts: [Int], expected: [Int]?) {
        var queue = queue(TransmitLimits(dwellMicroseconds: Self.dwell), millisecondsPerByte: 1)
        var output = ModemOutput()
        #expect(sent(&queue, byteCounts, &output) == expected)
        let longest = byteCounts.first { $0 > 100 }
        let notice = longest.map { ModemEvent.notice(.dwellTimeExceeded(airtimeMicroseconds: Int64($0) * 1000, limitMicroseconds: Self.dwell)) }
        let airtime = expected.map { ModemEvent.transmits(airtimeMicroseconds: Int64($0.reduce(0, +)) * 1000) }
        #expect(output.events == [notice, airtime].compactMap { $0 }, "a packet that is not sent has no airtime")
    }

    @Test("an answer after one that was too long is sent")
    func afterALongOne() {
        var queue = queue(TransmitLimits(dwellMicroseconds: Self.dwell), millisecondsPerByte: 1)
        var output = ModemOutput()
        queue.add([[UInt8](repeating: 1, count: 101)], at: Self.start)
        #expect(sent(&queue, [2], &output) == [2])
    }

    /// A rested radio has 9 s at 1 %: a quarter of an hour's airtime.
    private func dutyQueue() -> AnswerQueue {
        queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000), millisecondsPerByte: 100)
    }

    @Test("a short packet that fits is sent after a long one that used the rest, and a byte more is not")
    func shortAfterLong() {
        for (last, expected) in [(10, [10]), (11, nil)] as [(Int, [Int]?)] {
            var queue = dutyQueue()
            var output = ModemOutput()
            #expect(sent(&queue, [80], &output) == [80])
            #expect(sent(&queue, [last], &output) == expected)
            #expect(output.events.count { if case .notice(.dutyCycleReached(_, isStart: false)) = $0 { true } else { false } } == (expected == nil ? 1 : 0))
        }
    }

    @Test("a long packet that does not fit after a short one costs nothing, so that another short one is sent")
    func longAfterShort() {
        var queue = dutyQueue()
        var output = ModemOutput()
        #expect(sent(&queue, [10], &output) == [10])
        #expect(sent(&queue, [81], &output) == nil)
        #expect(sent(&queue, [80], &output) == [80])
        #expect(sent(&queue, [1], &output) == nil)
    }

    @Test("a long packet that does not fit does not delay the short one after it")
    func longBeforeShort() {
        var queue = dutyQueue()
        var output = ModemOutput()
        #expect(sent(&queue, [85], &output) == [85])
        queue.add([[UInt8](repeating: 1, count: 50)], at: Self.start)
        #expect(sent(&queue, [5], &output) == [5])
    }

    @Test("all packets of an answer count")
    func wholeAnswer() {
        var queue = dutyQueue()
        var output = ModemOutput()
        #expect(sent(&queue, [50, 41], &output) == nil)
        #expect(sent(&queue, [50, 40], &output) == [50, 40])
        #expect(output.events.contains(.transmits(airtimeMicroseconds: 9_000_000)))
    }

    /// The budget grows by 7.5 ms a second: three quarters of the duty cycle.
    @Test("the wait that is told is the wait that is needed")
    func wait() throws {
        var queue = dutyQueue()
        var output = ModemOutput()
        #expect(sent(&queue, [90], &output) == [90])
        #expect(sent(&queue, [3], &output) == nil)
        let waits = output.events.compactMap { if case .notice(.dutyCycleReached(let wait, _)) = $0 { wait } else { nil } }
        let seconds = try #require(waits.first) / 1_000_000
        #expect(seconds == 40)
        #expect(sent(&queue, [3], &output, seconds: seconds - 1) == nil)
        #expect(sent(&queue, [3], &output, seconds: seconds + 1) == [3])
    }

    @Test("a packet that is too long for the dwell time uses no airtime")
    func dwellAndDuty() {
        var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000, dwellMicroseconds: 4_000_000), millisecondsPerByte: 100)
        var output = ModemOutput()
        for _ in 0..<3 { #expect(sent(&queue, [41, 30], &output) == [30]) }
        #expect(sent(&queue, [1], &output) == nil)
    }
}
