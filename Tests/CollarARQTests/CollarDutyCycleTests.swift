import CollarARQ
import CollarWire
import Testing

/// The duty cycle, and the random delays of collars that make their fixes at the same moment.
@Suite struct CollarDutyCycleTests {
    private let modem = ModemProfile(
        nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 20_000, turnaroundMicroseconds: 40_000,
        isHalfDuplex: true)

    /// Three hours with a backlog that never ends: every poll is answered at once, but no answer acknowledges a fix.
    @Test func noWindowOfAnHourHoldsMoreThanItsPart() {
        let configuration = CollarDelivery.Configuration(modem: modem, dutyCyclePartsPerMillion: 10_000)
        var now = Instant(microseconds: 0)
        var delivery = CollarDelivery(
            configuration: configuration, oldestSequence: 0, nextSequence: 1_000_000, firstUndelivered: 0, now: now)
        var sent: [(at: Int64, airtime: Int64)] = []
        while now < Instant(microseconds: 3 * 3_600_000_000) {
            guard let transmission = delivery.nextTransmission(now: now) else {
                now = max(delivery.nextDeadline ?? now, now.advanced(byMicroseconds: 1))
                continue
            }
            let airtime = modem.airtimeMicroseconds(frameByteCount: 27)
            sent.append((now.microseconds, airtime))
            now = now.advanced(byMicroseconds: airtime)
            delivery.transmitted(frameByteCount: 27, now: now)
            if let poll = transmission.poll {
                _ = delivery.receive(acknowledgement(0, poll: poll.rawValue), now: now)
            }
        }
        var first = 0
        var sum: Int64 = 0
        var most: Int64 = 0
        for element in sent {
            sum += element.airtime
            while sent[first].at <= element.at - 3_600_000_000 {
                sum -= sent[first].airtime
                first += 1
            }
            most = max(most, sum)
        }
        #expect(most <= 36_000_000)
        #expect(most >= 25_000_000)
    }

    @Test func theFirstBurstBeginsAfterARandomPartOfAnExchange() {
        var delays: Set<Int64> = []
        for seed in 1...50 as ClosedRange<UInt32> {
            let configuration = CollarDelivery.Configuration(modem: modem, jitterSeed: seed &* 2_654_435_769)
            let start = Instant(microseconds: 0)
            var delivery = CollarDelivery(
                configuration: configuration, oldestSequence: 0, nextSequence: 5, firstUndelivered: 0, now: start)
            #expect(delivery.nextTransmission(now: start) == nil)
            guard let begin = delivery.nextDeadline else { continue }
            #expect(begin >= start)
            #expect(begin < start.advanced(byMicroseconds: modem.exchangeMicroseconds))
            #expect(delivery.nextTransmission(now: begin)?.content == .identity)
            delays.insert(begin.microseconds)
        }
        #expect(delays.count > 40)
    }

    /// A simulation found this fault: the collar was due to send forever, but had nothing to send.
    @Test func whatWasDeliveredWhileABurstWaitedToBeginIsDueNoMore() throws {
        let configuration = CollarDelivery.Configuration(modem: modem, jitterSeed: 1)
        var now = Instant(microseconds: 0)
        var delivery = CollarDelivery(
            configuration: configuration, oldestSequence: 0, nextSequence: 1, firstUndelivered: 0, now: now)
        #expect(delivery.nextTransmission(now: now) == nil)
        now = try #require(delivery.nextDeadline)
        #expect(delivery.nextTransmission(now: now)?.content == .identity)
        delivery.transmitted(frameByteCount: 40, now: now)
        #expect(delivery.receive(acknowledgement(1, poll: 1), now: now) == .answer)
        delivery.logChanged(oldestSequence: 0, nextSequence: 2)
        now = now.advanced(byMicroseconds: 1000)
        #expect(delivery.nextTransmission(now: now) == nil)
        let begin = try #require(delivery.nextDeadline)
        #expect(delivery.receive(acknowledgement(2, poll: nil), now: now) == .unasked)
        #expect(delivery.nextTransmission(now: begin) == nil)
        #expect(try #require(delivery.nextDeadline) > begin)
    }

    /// A simulation found this fault too. If a request extends the time-out beyond the wait for the duty cycle, the next
    /// deadline is the end of the time-out.
    @Test func aWindowMadeLongerOutlastsTheWaitForTheBudget() throws {
        let configuration = CollarDelivery.Configuration(modem: modem, dutyCyclePartsPerMillion: 10_000)
        var now = Instant(microseconds: 0)
        var delivery = CollarDelivery(
            configuration: configuration, oldestSequence: 0, nextSequence: 1, firstUndelivered: 0, now: now)
        #expect(delivery.nextTransmission(now: now) == nil)
        now = try #require(delivery.nextDeadline)
        #expect(delivery.nextTransmission(now: now)?.content == .identity)
        delivery.transmitted(frameByteCount: 40, now: now)
        now = try #require(delivery.nextDeadline)
        #expect(delivery.nextTransmission(now: now) == nil)
        let budgeted = try #require(delivery.nextDeadline)
        #expect(budgeted > now)
        delivery.requestReceived(now: budgeted.advanced(byMicroseconds: -1))
        let deadline = try #require(delivery.nextDeadline)
        #expect(deadline > budgeted)
        #expect(delivery.nextTransmission(now: deadline) != nil)
    }
}
