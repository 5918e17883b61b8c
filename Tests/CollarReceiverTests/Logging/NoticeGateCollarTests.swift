import CollarARQ
import CollarHost
import CollarWire
import Testing

@testable import CollarReceiver

/// The limits of the collars, each of which has its own.
@Suite struct NoticeGateCollarTests {
    private static func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private static func restarted(_ deviceID: DeviceID) -> ReceiverNotice { .host(.collar(deviceID, .restarted(cause: .watchdogReset))) }

    @Test func manyCollarsAtOnceAreAllToldAtOnce() {
        let notices: [(DeviceID) -> ReceiverNotice] = [
            { .host(.collar($0, .heard(logID: 2, link: "a", isSealed: false))) },
            { .host(.collar($0, .health(.unreachable(silentMicroseconds: 1)))) },
            { .host(.collar($0, .health(.condition(.unhealthy)))) },
            { .host(.collar($0, .storageFailing(.pendingLimitReached))) },
            { .host(.collar($0, .pairedElsewhere(receiverID: 2))) },
            { .host(.collar($0, .battery(.low, percent: 20))) },
            { .host(.collar($0, .fault(.radioFailed))) },
            Self.restarted,
        ]
        for notice in notices {
            var gate = NoticeGate()
            for id in 1...200 as ClosedRange<UInt64> {
                let isGiven = gate.admits(notice(DeviceID(rawValue: id)), at: Self.at(1))
                #expect(isGiven, "\(notice(DeviceID(rawValue: id)))")
            }
            #expect(gate.nextDeadline == nil)
        }
    }

    /// Of each of two floods, the newest notice is told, with the number of those of its collar.
    @Test func twoCollarsDoNotTakeTheNoticesOfOneAnother() {
        var gate = NoticeGate()
        for index in 0..<20 {
            _ = gate.admits(Self.restarted(1), at: Self.at(1 + Double(index) / 100))
            if index < 12 { _ = gate.admits(Self.restarted(2), at: Self.at(2 + Double(index) / 100)) }
        }
        #expect(gate.nextDeadline == Self.at(11.08))
        let first = gate.take(at: Self.at(11.08))
        #expect(first == [.repeated(Self.restarted(1), leftOutCount: 11)])
        #expect(gate.nextDeadline == Self.at(12.08))
        let second = gate.take(at: Self.at(12.08))
        #expect(second == [.repeated(Self.restarted(2), leftOutCount: 3)])
        #expect(gate.nextDeadline == nil)
    }

    /// A notice that was held back alone is given as it is, after those that waited longer.
    @Test func whatIsDueComesInTheOrderInWhichItBeganToWait() {
        var gate = NoticeGate()
        for id in [3, 1, 2] as [DeviceID] {
            for _ in 0...NoticeGate.burst { _ = gate.admits(Self.restarted(id), at: Self.at(Double(id.rawValue))) }
        }
        let due = gate.take(at: Self.at(20))
        #expect(due == [Self.restarted(1), Self.restarted(2), Self.restarted(3)])
        let later = gate.take(at: Self.at(100))
        #expect(later.isEmpty)
    }

    /// A notice that was held back counts against the limit when it is given.
    @Test func aSecondFloodIsCountedFromZero() {
        var gate = NoticeGate()
        for _ in 0..<12 { _ = gate.admits(Self.restarted(1), at: Self.at(1)) }
        let due11 = gate.take(at: Self.at(11))
        #expect(due11 == [.repeated(Self.restarted(1), leftOutCount: 3)])
        let isGiven = gate.admits(Self.restarted(1), at: Self.at(11))
        #expect(!isGiven, "one token came back, and it is spent")
        _ = gate.admits(Self.restarted(1), at: Self.at(12))
        #expect(gate.nextDeadline == Self.at(21))
        let due21 = gate.take(at: Self.at(21))
        #expect(due21 == [.repeated(Self.restarted(1), leftOutCount: 1)])
    }

    /// A collar that a stranger invented is forgotten; one whose notice waits is not.
    @Test func unusedLimitsAreDroppedAndWaitingNoticesAreKept() {
        var gate = NoticeGate()
        for _ in 0..<12 { _ = gate.admits(Self.restarted(1), at: Self.at(1)) }
        for id in 1000...4000 as ClosedRange<UInt64> { _ = gate.admits(Self.restarted(DeviceID(rawValue: id)), at: Self.at(10)) }
        let due11 = gate.take(at: Self.at(11))
        #expect(due11 == [.repeated(Self.restarted(1), leftOutCount: 3)])
        let isGiven = gate.admits(Self.restarted(1), at: Self.at(11))
        #expect(!isGiven)
    }

    /// Whether a flood of one notice holds back another one.
    private func sharesALimit(_ flood: ReceiverNotice, _ other: ReceiverNotice) -> Bool {
        var gate = NoticeGate()
        for _ in 0...NoticeGate.connectionBurst { _ = gate.admits(flood, at: Self.at(1)) }
        return !gate.admits(other, at: Self.at(1))
    }

    /// States that end one another share a limit, so that the last one is told; others have limits of their own.
    @Test func statesThatEndOneAnotherShareALimit() {
        let groups: [[ReceiverNotice]] = [
            [
                .host(.collar(1, .health(.reachable(silentMicroseconds: 1)))), .host(.collar(1, .health(.late(silentMicroseconds: 1)))),
                .host(.collar(1, .health(.unreachable(silentMicroseconds: 1)))),
            ],
            [.host(.collar(1, .health(.condition(.healthy)))), .host(.collar(1, .health(.condition(.unhealthy))))],
            [.host(.collar(1, .storageFailing(.pendingLimitReached))), .host(.collar(1, .storageRecovered))],
            [.host(.collar(1, .heard(logID: 2, link: "a", isSealed: true)))], [.host(.collar(1, .restarted(cause: nil)))],
            [.host(.collar(2, .restarted(cause: nil)))],
            [.port(path: "a", .opened(node: nil)), .port(path: "a", .unplugged(then: .isAwaited)), .port(path: "a", .unmarked)],
            [.port(path: "b", .opened(node: nil))], [.renewing(path: "a", deviceID: 1)], [.cannotSend(path: "a")], [.cannotSend(path: "b")],
            [.modem(path: "a", .notAnswering(.kiss)), .modem(path: "a", .answersAgain(.kiss))],
            [.modem(path: "a", .found(.kiss, version: nil))],
            [.modem(path: "b", .notAnswering(.kiss))],
        ]
        for (index, group) in groups.enumerated() {
            for (otherIndex, other) in groups.enumerated() {
                for (first, second) in group.flatMap({ one in other.map { (one, $0) } }) {
                    #expect(sharesALimit(first, second) == (index == otherIndex), "\(first), \(second)")
                }
            }
        }
    }

    /// A person who plugs a radio in and out causes more notices than a collar may.
    @Test func aPortMayBeOpenedMoreOften() {
        for (notice, burst) in [
            (ReceiverNotice.port(path: "a", .opened(node: nil)), NoticeGate.connectionBurst), (Self.restarted(1), NoticeGate.burst),
            (.cannotSend(path: "a"), NoticeGate.burst),
        ] {
            var gate = NoticeGate()
            var count = 0
            while count < 100, gate.admits(notice, at: Self.at(1)) { count += 1 }
            #expect(count == burst, "\(notice)")
        }
    }

    /// Notices that stand for data are never held back.
    @Test func dataIsNeverHeldBack() {
        let notices: [ReceiverNotice] = [
            .host(.collar(1, .damagedFixes(logID: 1, first: 1, last: 2))), .host(.collar(1, .lost(first: 1, last: 2))),
            .host(.collar(1, .deliveredElsewhere(first: 1, last: 2))), .host(.collar(1, .status(logID: 1, Status()))),
            .host(.collar(1, .power(logID: 1, PowerReport()))),
            .traffic(path: "a", isInbound: true, bytes: [1]), .capturing(path: "a"), .repeated(Self.restarted(1), leftOutCount: 1),
        ]
        for notice in notices {
            var gate = NoticeGate()
            for _ in 0..<200 {
                let isGiven = gate.admits(notice, at: Self.at(1))
                #expect(isGiven, "\(notice)")
            }
        }
    }
}
