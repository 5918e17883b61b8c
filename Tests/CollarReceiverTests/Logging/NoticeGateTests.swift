import CollarARQ
import CollarHost
import RadioModems
import Testing

@testable import CollarReceiver

/// How often notices of one kind are given, whatever happens.
@Suite struct NoticeGateTests {
    private static func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private static let restarted = ReceiverNotice.modem(path: "/dev/ttyUSB0", .restarted(.rnode))

    @Test func aFloodIsGivenOnceInSomeSecondsWithACount() {
        var gate = NoticeGate()
        var given: [ReceiverNotice] = []
        // A minute with a thousand notices a second.
        for millisecond in 0..<60_000 {
            let now = Self.at(Double(millisecond) / 1000)
            given += gate.take(at: now)
            if gate.admits(Self.restarted, at: now) { given.append(Self.restarted) }
        }
        #expect(given.count == NoticeGate.burst + 5)
        #expect(given.prefix(NoticeGate.burst).allSatisfy { $0 == Self.restarted })
        for case .repeated(let notice, let count) in given.dropFirst(NoticeGate.burst) {
            #expect(notice == Self.restarted)
            #expect((9_900...10_000).contains(count))
        }
        guard let last = given.last else { return }
        #expect(last.message.reason.contains("messages of this kind were left out."))
        #expect(last.message.code == .radioRestarted && last.port == "/dev/ttyUSB0" && last.mark == Self.restarted.mark)
    }

    /// After the flood the last state is told, and the gate is as at the start after a while.
    @Test func theLastStateIsTold() {
        var gate = NoticeGate()
        for count in 0..<101 {
            let notice = ModemNotice.notAnswering(.kiss)
            _ = gate.admits(.modem(path: "a", count.isMultiple(of: 2) ? notice : .answersAgain(.kiss)), at: Self.at(1))
        }
        #expect(gate.nextDeadline == Self.at(11))
        let early = gate.take(at: Self.at(10.9))
        #expect(early.isEmpty)
        let due = gate.take(at: Self.at(11))
        #expect(due == [.repeated(.modem(path: "a", .notAnswering(.kiss)), leftOutCount: 92)])
        #expect(gate.nextDeadline == nil)
        let later = gate.take(at: Self.at(1000))
        #expect(later.isEmpty)
        for _ in 0..<NoticeGate.burst {
            let isGiven = gate.admits(.modem(path: "a", .answersAgain(.kiss)), at: Self.at(1000))
            #expect(isGiven)
        }
    }

    @Test func subjectsAndKindsHaveLimitsOfTheirOwn() {
        var gate = NoticeGate()
        for _ in 0..<100 { _ = gate.admits(Self.restarted, at: Self.at(1)) }
        let others = [ReceiverNotice.modem(path: "/dev/ttyUSB1", .restarted(.rnode)), .modem(path: "/dev/ttyUSB0", .busy(.rnode))]
            .map { gate.admits($0, at: Self.at(1)) }
        #expect(others == [true, true])
        // What stands for data is never held back.
        for sequence in 0..<100 as Range<UInt32> {
            let isGiven = gate.admits(.host(.collar(1, .lost(first: sequence, last: sequence))), at: Self.at(1))
            #expect(isGiven)
        }
    }

    /// Whatever the notice, and however many collars a stranger invents, a minute has few of them.
    @Test func everyNoticeOfAPeerIsLimited() {
        let path = "/dev/ttyUSB0"
        let notices: [ReceiverNotice] = [
            .port(path: path, .opened(node: nil)), .port(path: path, .unplugged(then: .isAwaited)), .port(path: path, .unmarked), .port(path: path, .read(by: nil)),
            .port(path: path, .cannotConnect(reason: "refused")), .cannotSend(path: path), .renewing(path: path, deviceID: 1),
            .modem(path: path, .found(.rnode, version: nil)), .modem(path: path, .fault(.rnode, code: 7)),
            .modem(path: path, .refused(.power, wanted: 1, actual: 2)), .modem(path: path, .stranger(.text("x"))),
            .host(.collar(1, .heard(logID: 2, link: path, isSealed: false))), .host(.collar(1, .pairedElsewhere(receiverID: 2))),
            .host(.link(path, .keyRejected(deviceID: nil))), .host(.collar(1, .forgeryAttempted(link: path))),
            .host(.collar(1, .restartedBelow(bootCount: 1, logID: 1, isStored: true))), .host(.collar(1, .fault(.radioFailed))),
            .host(.collar(1, .health(.reachable(silentMicroseconds: nil)))), .host(.link(path, .noIdentity(microseconds: 1_000_000))),
        ]
        for notice in notices {
            var gate = NoticeGate()
            var count = 0
            for tenth in 0..<600 {
                count += gate.take(at: Self.at(Double(tenth) / 10)).count
                if gate.admits(notice, at: Self.at(Double(tenth) / 10)) { count += 1 }
            }
            #expect(count <= NoticeGate.connectionBurst + 6, "\(notice)")
        }
    }
}
