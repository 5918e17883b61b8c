@testable import CollarARQ
import CollarWire
import Testing

/// The requests of a host: their order, their repeats and their end.
@Suite struct RequestQueueTests {
    private let log = LogIdentity(deviceID: 5, logID: 6)
    private let late = Instant(microseconds: 1_000_000)

    /// The requests of the next window, in order.
    private func window(_ queue: inout RequestQueue, isForeign: Bool = false) throws -> [Message] {
        queue.beginWindow()
        var messages: [Message] = []
        var isMore = true
        while isMore {
            let frame = try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                isMore = try queue.nextOfWindow(address: 9, log: log, isForeign: isForeign, into: &output) != nil
            }
            if isMore { messages.append(try Message.decode(frame.span, log: log, reference: 0)) }
        }
        return messages
    }

    private func command(_ id: UInt16, _ action: Command.Action) -> Message {
        .command(Command(requestID: id, receiverID: 7, action: action))
    }

    private func given(_ id: UInt16?) throws -> UInt16 { try #require(id) }

    private func list(_ settings: KeyValuePairs<UInt8, UInt32>) -> SettingList {
        var entries = SettingList()
        for (key, value) in settings { entries.append(Setting(key: key, value: value)) }
        return entries
    }

    @Test func aRequestIsRepeatedWithItsIDAndFewerAndFewerTimes() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 41)
        #expect(queue.add(.command(.reboot), deadline: late) == 42)
        var windows: [Int] = []
        for number in 1...40 {
            let sent = try window(&queue)
            if sent.isEmpty { continue }
            #expect(sent == [command(42, .reboot)])
            windows.append(number)
        }
        #expect(windows == [1, 2, 4, 8, 16, 24, 32, 40])
    }

    @Test func aRequestOfAnEarlierProcessKeepsItsID() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 9)
        var areTaken = [(4, .command(.reboot)), (8, .settingsRequest)].map { queue.restore($0, $1, deadline: late, successorCount: 0) }
        #expect(queue.add(.command(.locateNow), deadline: late) == 10)
        #expect(try window(&queue).first == command(4, .reboot))
        #expect(queue.accept(CommandResult(requestID: 4, outcome: .ok))?.requestID == 4)
        areTaken += (11...17 as ClosedRange<UInt16>).map {
            queue.restore($0, .settingsRequest, deadline: late, successorCount: 0)
        }
        #expect(areTaken == [Bool](repeating: true, count: 8) + [false])
    }

    /// The id of a restored request does not tell how many requests were added after it.
    @Test func theSuccessorsOfARestoredRequestCount() {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 40_000)
        let isTaken = queue.restore(4, .command(.reboot), deadline: late, successorCount: 4)
        #expect(isTaken)
        #expect(queue.add(.command(.locateNow), deadline: late) == 40_001)
        #expect(queue.add(.command(.locateNow), deadline: late) == 40_002)
        #expect(queue.add(.command(.locateNow), deadline: late) == nil)
        #expect(queue.add(.command(.pair(receiverID: 7)), deadline: late) == 40_003)
        #expect(queue.isOpen(4))
        #expect(queue.add(.command(.pair(receiverID: 7)), deadline: late) == 40_004)
        #expect(!queue.isOpen(4))
    }

    @Test func whatAnEarlierProcessMayHaveSentIsNotReplaced() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 4)
        let isTaken = queue.restore(4, .command(.unpair), deadline: late, successorCount: 0)
        #expect(isTaken)
        #expect(queue.add(.command(.pair(receiverID: 7)), deadline: late, isLatestOnly: true) == 5)
        #expect(queue.count == 2)
        #expect(queue.learnReceiver(0) == EndedRequest(requestID: 4, request: .command(.unpair), outcome: .result(.ok)))
    }

    /// The report of the first update may be lost. If the second update were in force by then, the collar would answer a repeat
    /// of the first with a conflict.
    @Test func updatesGoOutOneAfterTheOther() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let entries = list([8: 60])
        for version in [5, 6] as [UInt64] {
            _ = queue.add(.settingsUpdate(version: SettingsVersion(rawValue: version), entries), deadline: late)
        }
        _ = queue.add(.command(.locateNow), deadline: late)
        func update(_ id: UInt16, _ version: UInt64) -> Message {
            .settings(Settings(direction: .update, requestID: id, version: SettingsVersion(rawValue: version), entries: entries))
        }
        #expect(try window(&queue) == [update(1, 5), command(3, .locateNow)])
        #expect(try window(&queue) == [update(1, 5), command(3, .locateNow)])
        let report = Settings(direction: .report, requestID: 1, version: SettingsVersion(rawValue: 5), entries: entries)
        #expect(queue.accept(report)?.requestID == 1)
        #expect(try window(&queue) == [update(2, 6)])
    }

    @Test func aCollarOfAnotherReceiverGetsNothingButPair() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        for action in [.locateNow, .sound(milliseconds: 5), .pair(receiverID: 7)] as [Command.Action] {
            _ = queue.add(.command(action), deadline: late)
        }
        #expect(try window(&queue, isForeign: true) == [command(3, .pair(receiverID: 7))])
        #expect(try window(&queue) == [command(1, .locateNow), command(2, .sound(milliseconds: 5))])
    }

    @Test func aWindowHoldsTwoAndTheOthersFollow() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        for _ in 0..<3 { _ = queue.add(.command(.locateNow), deadline: late) }
        #expect(try window(&queue) == [command(1, .locateNow), command(2, .locateNow)])
        #expect(try window(&queue) == [command(1, .locateNow), command(2, .locateNow)])
        #expect(try window(&queue) == [command(3, .locateNow)])
        #expect(try window(&queue) == [command(1, .locateNow), command(2, .locateNow)])
        #expect(try window(&queue) == [command(3, .locateNow)])
    }

    @Test func aResultEndsItsRequestOnce() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let id = try given(queue.add(.command(.reboot), deadline: late))
        let result = CommandResult(requestID: id, outcome: .refused)
        #expect(queue.accept(CommandResult(requestID: id + 1, outcome: .ok)) == nil)
        #expect(queue.accept(result) == EndedRequest(requestID: id, request: .command(.reboot), outcome: .result(.refused)))
        #expect(queue.accept(result) == nil)
        #expect(queue.count == 0)
        #expect(try window(&queue) == [])
    }

    @Test func aReportOfTheVersionEndsAnUpdate() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let entries = list([8: 7])
        let id = try given(queue.add(.settingsUpdate(version: SettingsVersion(rawValue: 5), entries), deadline: late))
        let update = Settings(direction: .update, requestID: id, version: SettingsVersion(rawValue: 5), entries: entries)
        #expect(try window(&queue) == [.settings(update)])
        var report = Settings(direction: .report, requestID: id, version: SettingsVersion(rawValue: 4), entries: entries)
        #expect(queue.accept(report) == nil)
        #expect(queue.accept(update) == nil)
        report.version = SettingsVersion(rawValue: 5)
        let ended = EndedRequest(
            requestID: id, request: .settingsUpdate(version: report.version, entries), outcome: .reported(version: report.version))
        #expect(queue.accept(report) == ended)
    }

    @Test func aRequestForAReportEndsWhenEveryKeyOfOneVersionWasNamed() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let id = try given(queue.add(.settingsRequest, deadline: late))
        #expect(try window(&queue) == [.settingsRequest(SettingsRequest(requestID: id))])
        let low = list([1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1])
        let middle = list([7: 1, 8: 1, 9: 1, 10: 1, 11: 1, 12: 1])
        let high = list([13: 1, 14: 1, 15: 1, 16: 1, 17: 1, 18: 1])
        let schedule = list([19: 1, 20: 1, 21: 1, 22: 1, 23: 1, 99: 1])
        var report = Settings(direction: .report, requestID: id, version: SettingsVersion(rawValue: 1), entries: schedule)
        #expect(queue.accept(report) == nil)
        report.version = SettingsVersion(rawValue: 2)
        report.entries = low
        #expect(queue.accept(report) == nil)
        report.entries = middle
        #expect(queue.accept(report) == nil)
        report.entries = high
        #expect(queue.accept(report) == nil)
        report.entries = schedule
        #expect(queue.accept(report) == EndedRequest(requestID: id, request: .settingsRequest, outcome: .reported(version: report.version)))
    }

    @Test func aRequestEndsWhenItsTimeIsOver() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let id = try given(queue.add(.command(.reboot), deadline: late))
        #expect(queue.expire(now: Instant(microseconds: 999_999)) == nil)
        #expect(queue.expire(now: late) == EndedRequest(requestID: id, request: .command(.reboot), outcome: .expired))
        #expect(queue.expire(now: late) == nil)
    }

    @Test func theLatestReplacesWhatWasNotSent() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let old = try given(queue.add(.command(.startTracking), deadline: late))
        _ = queue.add(.command(.locateNow), deadline: late)
        let new = try given(queue.add(.command(.stopTracking), deadline: late, isLatestOnly: true))
        #expect(!queue.isOpen(old) && queue.count == 2)
        #expect(try window(&queue) == [command(2, .locateNow), command(new, .stopTracking)])
        _ = queue.add(.command(.startTracking), deadline: late, isLatestOnly: true)
        #expect(queue.isOpen(new), "it was sent")
    }

    /// An update that names other keys leaves the older one in the queue: its settings would be lost with it.
    @Test func anUpdateReplacesOnlyUpdatesOfItsKeys() throws {
        let version = SettingsVersion(rawValue: 1)
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        func add(_ settings: KeyValuePairs<UInt8, UInt32>) throws -> UInt16 {
            try given(queue.add(.settingsUpdate(version: version, list(settings)), deadline: late, isLatestOnly: true))
        }
        let heartbeat = try add([8: 60])
        let interval = try add([1: 500])
        #expect(queue.isOpen(heartbeat) && queue.isOpen(interval))
        let both = try add([1: 900, 8: 90])
        #expect(!queue.isOpen(heartbeat) && !queue.isOpen(interval) && queue.isOpen(both))
    }

    @Test func sevenAreOpenAtMostAndAPairBesides() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 65_534)
        #expect(queue.add(.settingsRequest, deadline: late) == 65_535)
        #expect(queue.add(.settingsRequest, deadline: late) == 1)
        for _ in 2..<7 { #expect(queue.add(.settingsRequest, deadline: late) != nil) }
        #expect(queue.add(.settingsRequest, deadline: late) == nil)
        #expect(queue.add(.command(.pair(receiverID: 7)), deadline: late) != nil)
        #expect(queue.add(.settingsUpdate(version: SettingsVersion(rawValue: 1), list([:])), deadline: late) == nil)
    }

    /// A collar remembers its last eight commands. At a ninth it would forget a command whose repeat may still arrive.
    @Test func whileARequestIsOpenSixMoreAreMade() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 65_530)
        let first = try given(queue.add(.command(.reboot), deadline: late))
        for _ in 0..<6 {
            let id = try given(queue.add(.command(.locateNow), deadline: late))
            #expect(queue.accept(CommandResult(requestID: id, outcome: .ok)) != nil)
        }
        #expect(queue.add(.command(.locateNow), deadline: late) == nil)
        #expect(queue.isOpen(first) && queue.count == 1)
        #expect(queue.accept(CommandResult(requestID: first, outcome: .ok)) != nil)
        #expect(queue.add(.command(.locateNow), deadline: late) == 3)
    }

    /// A collar without a receiver executes no command but *pair*, so a *pair* replaces older requests that would stay open.
    @Test func aPairTakesThePlaceOfWhatWouldBeTooOld() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 65_530)
        let first = try given(queue.add(.command(.startTracking), deadline: late))
        let second = try given(queue.add(.command(.reboot), deadline: late))
        for _ in 0..<6 { _ = try given(queue.add(.command(.pair(receiverID: 7)), deadline: late)) }
        #expect(queue.isOpen(first) && queue.isOpen(second) && queue.count == 3)
        let pair = try given(queue.add(.command(.pair(receiverID: 7)), deadline: late))
        #expect(!queue.isOpen(first) && queue.isOpen(second) && queue.isOpen(pair) && queue.count == 2)
    }

    @Test func whatCannotBeAddedReplacesNothing() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        _ = queue.add(.settingsRequest, deadline: late)
        for _ in 0..<5 { _ = try given(queue.add(.command(.locateNow), deadline: late)) }
        let old = try given(queue.add(.command(.reboot), deadline: late))
        #expect(queue.add(.command(.reboot), deadline: late, isLatestOnly: true) == nil)
        #expect(queue.isOpen(old))
    }

    @Test func anUpdateHasFiveSettingsAtMost() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let version = SettingsVersion(rawValue: .max)
        let tooMany = list([1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1])
        #expect(queue.add(.settingsUpdate(version: version, tooMany), deadline: late) == nil)
        #expect(queue.add(.settingsUpdate(version: version, list([1: 1, 2: 1, 3: 1, 4: 1, 5: 1])), deadline: late) == 1)
        #expect(try window(&queue).count == 1)
    }

    @Test func anIdentityTellsThatAPairingHasComeAbout() throws {
        var queue = RequestQueue(receiverID: 7, lastRequestID: 0)
        let id = try given(queue.add(.command(.pair(receiverID: 99)), deadline: late))
        #expect(queue.learnReceiver(99) == nil, "it was not sent")
        _ = try window(&queue)
        #expect(queue.learnReceiver(7) == nil)
        #expect(queue.learnReceiver(99) == EndedRequest(requestID: id, request: .command(.pair(receiverID: 99)), outcome: .result(.ok)))
        _ = queue.add(.command(.unpair), deadline: late)
        _ = try window(&queue)
        #expect(queue.learnReceiver(99) == nil)
        #expect(queue.learnReceiver(0) == EndedRequest(requestID: 2, request: .command(.unpair), outcome: .result(.ok)))
    }
}
