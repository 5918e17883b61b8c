import CollarARQ
import CollarHost
import CollarJournal
import RadioModems
import Testing

@testable import CollarReceiver

/// The figures and names in messages: each stands where it belongs.
@Suite struct MessageFiguresTests {
    private func reason(_ notice: ReceiverNotice) -> String { notice.message.reason }

    private func reason(_ notice: CollarNotice) -> String { reason(.host(.collar(0xAB, notice))) }

    @Test func timesAreInSeconds() {
        #expect(reason(.health(.reachable(silentMicroseconds: 75_900_000))).hasSuffix("is heard again, after 75 s."))
        #expect(reason(.health(.reachable(silentMicroseconds: nil))).hasSuffix("is heard again."))
        #expect(reason(.health(.late(silentMicroseconds: 76_000_000))).hasSuffix("is late: nothing was heard of it for 76 s."))
        #expect(reason(.health(.unreachable(silentMicroseconds: 195_000_000))).contains("not reachable: nothing was heard of it for 195"))
        #expect(reason(.positions(.noFix(microseconds: 61_000_000))).hasSuffix("has sent no fix for 61 s."))
        #expect(reason(.positions(.stale(microseconds: 90_000_000))).contains(" came 90 s ago"))
    }

    @Test func countsOfMissedFramesAreThoseOfTheCondition() {
        #expect(reason(.health(.condition(.degraded))).contains("degraded link: 3 expected"))
        #expect(reason(.health(.condition(.unhealthy))).contains("unhealthy link: 10 expected"))
        #expect(reason(.health(.condition(.healthy))).hasSuffix("has a healthy link again."))
    }

    @Test func twoSequencesAreInTheirOrder() {
        #expect(reason(.misbehaving(.sequenceJump(from: 12, to: 34))).contains("from fix 12 to fix 34"))
        #expect(reason(.misbehaving(.otherContent(sequence: 56))).contains("fix 56 again"))
    }

    @Test func aBatteryHasItsPercent() {
        #expect(reason(.battery(.low, percent: 19)).hasSuffix("is low: 19 %."))
        #expect(reason(.battery(.critical, percent: 9)).hasSuffix("is almost empty: 9 %."))
    }

    @Test func targetsHaveTheirMeasuredFigure() {
        #expect(reason(.targetMissed(.fixLatency, measured: 712_000)).contains("within 712 ms"))
        #expect(reason(.targetMissed(.messageLatency, measured: 213_000)).contains("up to 213 ms"))
        #expect(reason(.targetMissed(.memory, measured: 61_000_000)).contains("uses 61 MB"))
        #expect(reason(.targetMissed(.processor, measured: 14)).contains("used 14 %"))
    }

    @Test func whatWasLeftOutIsCounted() {
        let notice = ReceiverNotice.host(.collar(0xAB, .restarted(cause: .watchdogReset)))
        let alone = reason(notice)
        #expect(reason(.repeated(notice, leftOutCount: 1)) == alone + " 1 message of this kind was left out.")
        #expect(reason(.repeated(notice, leftOutCount: 2)) == alone + " 2 messages of this kind were left out.")
    }

    @Test func bytesHaveTheirDirection() {
        #expect(reason(.traffic(path: "/dev/a", isInbound: true, bytes: [1, 0xFF])).hasPrefix("/dev/a in 2 bytes: "))
        #expect(reason(.traffic(path: "/dev/a", isInbound: false, bytes: [1])).hasPrefix("/dev/a out 1 bytes: "))
    }

    @Test func aMessageNamesItsCollarAndItsPort() {
        let deviceID = "00000000000000ab"
        let path = "/dev/ttyUSB5"
        #expect(reason(.heard(logID: 1, link: path, isSealed: true)).contains(path))
        #expect(reason(.heard(logID: 1, link: path, isSealed: true)) != reason(.heard(logID: 1, link: path, isSealed: false)))
        #expect(reason(.renewing(path: path, deviceID: 0xAB)).hasPrefix(path))
        let notices: [CollarNotice] = [
            .heard(logID: 1, link: path, isSealed: true), .pairedElsewhere(receiverID: 9), .forgeryAttempted(link: path), .keyLost,
            .onlyRepeats,
            .lost(first: 1, last: 2), .deliveredElsewhere(first: 1, last: 2), .restarted(cause: nil), .fault(.radioFailed),
            .battery(.low, percent: 3), .health(.condition(.degraded)), .positions(.gnssFault), .misbehaving(.tooManyPolls),
            .storageRecovered,
        ]
        for notice in notices { #expect(reason(notice).contains(deviceID), "\(reason(notice))") }
    }
}
