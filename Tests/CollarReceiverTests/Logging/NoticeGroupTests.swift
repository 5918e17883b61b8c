import CollarARQ
import CollarControl
import CollarPorts
import CollarWire
import RadioModems
import Testing

@testable import CollarFormats
@testable import CollarHost
@testable import CollarReceiver

/// Notices that share a limit, and the time at which a limit is forgotten.
@Suite struct NoticeGroupTests {
    private static func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private static let radio = RadioIdentity(
        radioID: 1, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), maximumFrameByteCount: 253)

    private static let groups: [[ReceiverNotice]] = [
        [
            .port(path: "a", .waiting), .port(path: "a", .opened(node: nil)), .port(path: "a", .opened(node: "b")),
            .port(path: "a", .unplugged(then: .isAnotherTerminal)), .port(path: "a", .unmarked),
        ],
        // One code: another program has the line.
        [.port(path: "a", .read(by: nil)), .port(path: "a", .cannotOpen(.busy(path: "a", holder: nil)))],
        [.port(path: "a", .cannotConnect(reason: "x"))], [.port(path: "a", .cannotOpen(.notATerminal(path: "a")))],
        [
            .modem(path: "a", .powerReduced(wantedDBm: 20, actualDBm: 17)), .modem(path: "a", .powerRaised(wantedDBm: 2, actualDBm: 5)),
            .modem(path: "a", .amplified(board: "X", chipDBm: 9, outputDBm: 20)), .modem(path: "a", .boardUnknown(.kiss)),
        ],
        [.modem(path: "a", .notAnswering(.rnode)), .modem(path: "a", .answersAgain(.kiss))],
        [.modem(path: "a", .found(.kiss, version: nil))],
        [.modem(path: "a", .restarted(.kiss))], [.modem(path: "a", .busy(.kiss))],
        [.host(.link("a", .radio(radio)))], [.host(.link("a", .keyMissing))], [.host(.link("a", .unsupportedFrame))],
        [.host(.collar(1, .health(.condition(.degraded)))), .host(.collar(1, .health(.condition(.healthy))))],
        [.host(.collar(1, .health(.late(silentMicroseconds: 1)))), .host(.collar(1, .health(.reachable(silentMicroseconds: nil))))],
        [.host(.collar(1, .battery(.low, percent: 5)))], [.host(.collar(1, .battery(.critical, percent: 5)))],
        [.host(.collar(1, .fault(.radioFailed))), .host(.collar(1, .fault(.flashFailed)))],
        [.targetMissed(.memory, measured: 1), .targetMissed(.processor, measured: 2)],
    ]

    /// A flood of any notice of a group holds back all of the group, and no other notice.
    @Test(arguments: groups.indices)
    func aFloodHoldsBackItsGroup(index: Int) throws {
        for flood in Self.groups[index] {
            var gate = NoticeGate()
            for _ in 0...NoticeGate.connectionBurst { _ = gate.admits(flood, at: Self.at(1)) }
            let held = Self.groups.map { group in
                group.filter { notice in
                    var gate = gate
                    return !gate.admits(notice, at: Self.at(1))
                }
            }
            #expect(held == Self.groups.indices.map { $0 == index ? Self.groups[$0] : [] }, "\(flood)")
        }
    }

    /// Notices that stand for data or come at most once are given as often as they come.
    @Test func whatNobodyCanCauseInNumbersIsNotLimited() {
        let notices: [ReceiverNotice] = [
            .waitingForRadio(others: []), .udevElsewhere, .crashed(EndOfRun(processID: 1, signal: nil)),
            .captureStopped(.notAFile(path: "a")),
            .figures(ReceiverStatistics(), HostLatencies()), .fixesLeftOut(.init(format: .gpx, fixCount: 1)),
        ]
        for notice in notices {
            var gate = NoticeGate()
            for _ in 0..<200 where !gate.admits(notice, at: Self.at(1)) { Issue.record("\(notice) is held back.") }
        }
    }

    /// One token comes back in ten seconds, so a slow series is given whole.
    @Test func aSlowSeriesIsNotLimited() {
        var gate = NoticeGate()
        let notice = ReceiverNotice.modem(path: "a", .busy(.kiss))
        for index in 0..<100 where !gate.admits(notice, at: Self.at(Double(index) * 10)) { Issue.record("notice \(index) is held back") }
        #expect(gate.nextDeadline == nil)
    }

    /// A limit that is full again is forgotten only when there are very many, and it is the time of its last use that counts.
    @Test func aLimitThatIsInUseIsKept() {
        func restarted(_ id: UInt64) -> ReceiverNotice { .host(.collar(DeviceID(rawValue: id), .restarted(cause: nil))) }
        var gate = NoticeGate()
        for _ in 0..<NoticeGate.burst { _ = gate.admits(restarted(1), at: Self.at(1)) }
        for id in 1000..<3000 as Range<UInt64> { _ = gate.admits(restarted(id), at: Self.at(2)) }
        let isGiven = gate.admits(restarted(1), at: Self.at(2))
        #expect(!isGiven, "strangers do not give it new tokens")
    }
}
