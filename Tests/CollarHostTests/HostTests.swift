import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import Glibc
import Testing

/// The host as a whole. Each test passes frames and times to it.
@Suite struct HostTests {
    /// Takes the frames that wait to be sent, and returns the acknowledgements among them with their links.
    private func acknowledgements(_ bench: HostBench) throws -> [(link: LinkID, answer: Acknowledgement)] {
        try bench.frames().compactMap { frame in
            let header = try FrameHeader(frame.bytes.span)
            guard header.type == .acknowledgement else { return nil }
            return (frame.link, try Acknowledgement(decoding: frame.bytes.span, header: header))
        }
    }

    @Test func aFixIsAnsweredOnceItIsDurable() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 1, poll: nil), on: link)
        bench.receive(try collar.fix(0, poll: 3), on: link)
        #expect(try acknowledgements(bench).isEmpty)
        #expect(bench.host.isCommitDue)
        bench.commit()
        let answers = try acknowledgements(bench)
        #expect(answers.count == 1)
        #expect(answers.first?.link == link)
        #expect(answers.first?.answer.firstMissing == 1)
        #expect(answers.first?.answer.poll?.rawValue == 3)
        #expect(!bench.host.isCommitDue)
        bench.disk.losePower()
        try bench.restart()
        #expect(bench.entries().count == 1)
    }

    /// A fix is wrongly reported as lost if a flash read fails for a moment, or if a tombstone is forged.
    @Test func aFixThatWasCalledLostIsStoredAndComesOut() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 3, poll: nil), on: link)
        bench.receive(try collar.tombstone(0, 1), on: link)
        bench.receive(try collar.fix(2), on: link)
        bench.commit()
        #expect(bench.entries().count == 1)
        bench.receive(try collar.fix(1), on: link)
        bench.commit()
        let late = bench.entries()
        #expect(late.count == 1)
        guard case .fix(let fix) = late.first?.content else {
            Issue.record("no fix comes out")
            return
        }
        #expect(fix.fix.sequence == 1)
    }

    /// If it were stored, the host would acknowledge fixes that the collar has not made yet.
    @Test func aLossBeyondWhatTheCollarHasShownIsNotTaken() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 3, poll: nil), on: link)
        _ = bench.frames()
        bench.receive(try collar.tombstone(0, 9, poll: 2), on: link)
        bench.commit()
        let frames = try bench.frames().map { (bytes: $0.bytes, header: try FrameHeader($0.bytes.span)) }
        #expect(frames.map(\.header.type) == [.identityRequest, .acknowledgement])
        let answer = try #require(frames.last)
        #expect(try Acknowledgement(decoding: answer.bytes.span, header: answer.header).firstMissing == 3)
        bench.receive(try collar.tombstone(5, 9, poll: 3), on: link)
        bench.commit()
        #expect(try acknowledgements(bench).map(\.answer.firstMissing) == [3])
        bench.receive(try collar.identity(next: 10, poll: nil), on: link)
        bench.receive(try collar.tombstone(0, 9, poll: 4), on: link)
        bench.commit()
        #expect(try acknowledgements(bench).map(\.answer.firstMissing) == [10])
    }

    /// There are only 254 addresses, so two collars may have the same address.
    @Test func ofTwoCollarsWithOneAddressEachIsKnown() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let first = try PaperCollar(deviceID: 0xC0, logID: 77)
        let second = try PaperCollar(deviceID: 0xC1, logID: 78)
        bench.receive(try first.identity(next: 1, poll: nil), on: link)
        bench.receive(try second.identity(next: 1, poll: nil), on: link)
        bench.receive(try second.fix(0), on: link)
        bench.receive(try first.fix(0, poll: 2), on: link)
        bench.commit()
        #expect(bench.entries().map(\.deviceID).sorted() == [0xC0, 0xC1])
        #expect(try acknowledgements(bench).map(\.answer.firstMissing) == [1])
    }

    /// The identity of a base radio, which sends signal reports.
    private func radioIdentity() throws -> [UInt8] {
        try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try RadioIdentity(
                radioID: 5, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), maximumFrameByteCount: 253
            ).encode(into: &output)
        }
    }

    /// The frame waits for a quarter of the turnaround that the radio reports, but not longer than 20 ms.
    @Test func aFrameWaitsForItsSignalReport() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let modem = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try ModemSettings(modulation: .serial(bitsPerSecond: 9600), turnaroundMilliseconds: 60).encode(into: &output)
        }
        bench.receive(try radioIdentity(), on: link)
        bench.receive(modem, on: link)
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 1, poll: nil), on: link)
        let frame = try collar.fix(0)
        let check = frame.suffix(3).reduce(0) { $0 << 8 | UInt32($1) }
        let report = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try SignalReport(packetCRC: check, signal: RadioSignal(strengthDBm: -90)).encode(into: &output)
        }
        bench.receive(frame, on: link)
        bench.wait(seconds: 0.01)
        bench.host.deadlineReached(at: bench.time)
        bench.receive(report, on: link)
        bench.commit()
        guard case .fix(let stored) = bench.entries().first?.content else {
            Issue.record("no fix came out")
            return
        }
        #expect(stored.signal == RadioSignal(strengthDBm: -90))
    }

    /// A fix that waits for its signal report is stored without a signal if its link closes.
    @Test func aHeldFixIsStoredWhenItsLinkCloses() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        bench.receive(try radioIdentity(), on: link)
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 1, poll: nil), on: link)
        bench.receive(try collar.fix(0), on: link)
        #expect(bench.takeFixes().isEmpty, "the fix is held")
        bench.host.linkClosed(link, at: bench.time)
        let stored = bench.takeFixes()
        #expect(stored.map(\.fix.sequence) == [0] && stored.map(\.signal) == [nil])
    }

    /// The receipt of a fix that goes out directly confirms all entries before it, so these entries must go out first.
    @Test func aFixThatComesInWaitsForWhatIsReadBack() throws {
        let bench = try HostBench()
        let collar = try PaperCollar()
        let former = bench.openLink()
        bench.receive(try collar.identity(next: 3, poll: nil), on: former)
        for sequence in 0..<3 as Range<UInt32> { bench.receive(try collar.fix(sequence), on: former) }
        bench.commit()
        try bench.restart()
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 4, poll: nil), on: link)
        let first = try #require(bench.host.nextEntry(at: bench.time))
        bench.host.emitted(first.receipt)
        bench.receive(try collar.fix(3), on: link)
        bench.commit()
        let sequences = ([first] + bench.entries()).map { entry -> UInt32? in
            if case .fix(let record) = entry.content { record.fix.sequence } else { nil }
        }
        #expect(sequences == [0, 1, 2, 3])
    }

    @Test func nothingIsAnsweredWhileTheDiskIsFullAndAStopIsReportedOnceMore() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 1, poll: nil), on: link)
        bench.commit()
        _ = bench.notices()
        bench.disk.faults.room = 0
        for poll in 1...3 as ClosedRange<UInt8> {
            bench.receive(try collar.fix(0, poll: poll), on: link)
            bench.commit()
            #expect(try acknowledgements(bench).isEmpty)
        }
        var failures = bench.notices()
        #expect(failures.count == 1)
        guard case .collar(_, .storageFailing(.file)) = failures.first else {
            Issue.record("\(failures)")
            return
        }
        // A failure that needs a restart must be reported even if a temporary failure was already reported.
        bench.disk.faults.isReadOnly = true
        bench.receive(try collar.fix(0, poll: 4), on: link)
        bench.commit()
        failures = bench.notices()
        guard case .collar(_, .storageFailing(.stopped)) = failures.first else {
            Issue.record("\(failures)")
            return
        }
        bench.receive(try collar.fix(0, poll: 5), on: link)
        bench.commit()
        #expect(bench.notices().isEmpty)
        #expect(bench.host.reading(at: bench.time).isStorageFailing)
    }

    @Test func aFullDiskThatHasRoomAgainIsToldAndAnswered() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 1, poll: nil), on: link)
        bench.commit()
        bench.disk.faults.room = 0
        bench.receive(try collar.fix(0, poll: 1), on: link)
        bench.commit()
        _ = bench.notices()
        bench.disk.faults.room = nil
        bench.receive(try collar.fix(0, poll: 2), on: link)
        bench.commit()
        #expect(bench.notices() == [.collar(collar.log.deviceID, .storageRecovered)])
        #expect(try acknowledgements(bench).first?.answer.firstMissing == 1)
        #expect(bench.host.statistics.duplicates == 1)
    }

    @Test func silenceIsReportedAfterOneAndAfterFiveSeconds() throws {
        let bench = try HostBench()
        _ = bench.openLink()
        #expect(bench.frames().count == 1)
        for (wait, seconds) in [(1.0, 1), (4.0, 5)] {
            #expect(bench.host.nextDeadline == bench.now.advanced(byMicroseconds: Int64(wait * 1e6)))
            bench.wait(seconds: wait)
            bench.host.deadlineReached(at: bench.time)
            #expect(bench.notices() == [.link("radio", .noIdentity(microseconds: Int64(seconds) * 1_000_000))])
            #expect(bench.frames().count == 1)
        }
        #expect(bench.host.nextDeadline == nil)
    }

    @Test func aCollarThatSpeaksEndsTheSilence() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(), on: link)
        bench.wait(seconds: 5)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.notices() == [.collar(collar.log.deviceID, .heard(logID: collar.log.logID, link: "radio", isSealed: false))])
    }

    @Test func moreFixesThanWaitComeFromTheJournalInTheirOrder() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 2000, poll: nil), on: link)
        for sequence in 0..<2000 as Range<UInt32> {
            bench.receive(try collar.fix(sequence), on: link)
            if sequence % 700 == 0 { bench.commit() }
        }
        let sequences = bench.entries().compactMap { if case .fix(let record) = $0.content { record.fix.sequence } else { nil } }
        #expect(sequences == Array(0..<2000))
        bench.commit()
        try bench.restart()
        #expect(bench.entries().isEmpty)
    }

    @Test func theRadiosReportGoesWithItsFix() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        let radio = RadioIdentity(
            radioID: 4, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3), maximumFrameByteCount: 253)
        bench.receive(
            try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in try radio.encode(into: &output) },
            on: link)
        bench.receive(try collar.identity(next: 2, poll: nil), on: link)
        let fix = try collar.fix(0)
        bench.receive(fix, on: link)
        #expect(bench.entries().isEmpty)
        let check = fix.suffix(3).reduce(0) { $0 << 8 | UInt32($1) }
        let report = SignalReport(packetCRC: check, signal: RadioSignal(strengthDBm: -91, signalToNoiseTenthsDB: 45))
        bench.receive(
            try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in try report.encode(into: &output) },
            on: link)
        guard case .fix(let record)? = bench.entries().first?.content else {
            Issue.record("no fix")
            return
        }
        #expect(record.signal == RadioSignal(strengthDBm: -91, signalToNoiseTenthsDB: 45))
        // A fix without a signal report waits for 20 ms only.
        bench.receive(try collar.fix(1), on: link)
        let due = try #require(bench.host.nextDeadline)
        #expect(due == bench.now.advanced(byMicroseconds: 20_000))
        bench.wait(seconds: 0.02)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.entries().count == 1)
    }
}

/// Commands, from their submission to their end.
@Suite struct HostCommandTests {
    private func refusal(_ body: () throws(RequestRefusal) -> Void) -> RequestRefusal? {
        do throws(RequestRefusal) {
            try body()
            return nil
        } catch { return error }
    }

    private let now = RequestPatience.now(microseconds: 30_000_000)

    @Test func aCommandThatDoesNotWaitNeedsARadioAndContact() throws {
        let bench = try HostBench()
        let collar = try PaperCollar()
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.commit()
        try bench.restart()
        let id = collar.log.deviceID
        func submit() -> RequestRefusal? {
            refusal { () throws(RequestRefusal) in
                _ = try bench.host.submit(.command(.locateNow), to: nil, patience: now, at: bench.time)
            }
        }
        #expect(submit() == .noRadio(deviceID: id))
        let again = bench.openLink()
        #expect(submit() == .noContact(deviceID: id))
        bench.receive(try collar.identity(), on: again)
        #expect(submit() == nil)
        // After more than three heartbeats without a frame the collar is unreachable.
        bench.wait(seconds: 200)
        bench.host.deadlineReached(at: bench.time)
        #expect(submit() == .noContact(deviceID: id))
        bench.receive(try collar.identity(), on: again)
        bench.host.linkClosed(again, at: bench.time)
        #expect(submit() == .noRadio(deviceID: id))
    }

    /// The host is killed some time after it took a command that does not wait, and is started again after another time.
    private func killed(afterSeconds life: Double, forSeconds death: Double) throws -> (bench: HostBench, collar: PaperCollar, requestID: UInt16) {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        bench.receive(try collar.identity(), on: bench.openLink())
        bench.commit()
        let report = try bench.host.submit(.command(.locateNow), to: nil, patience: now, at: bench.time)
        bench.wait(seconds: life)
        bench.disk.endProcess()
        bench.wait(seconds: death)
        try bench.restart()
        return (bench, collar, report.requestID)
    }

    private func commandCount(_ bench: HostBench, of collar: PaperCollar, poll: UInt8, on link: LinkID) throws -> Int {
        bench.receive(try collar.identity(poll: poll), on: link)
        bench.commit()
        return try bench.frames().count { try FrameHeader($0.bytes.span).type == .command }
    }

    @Test func aCommandThatDoesNotWaitOutlivesARestartButNotItsTime() throws {
        let (bench, collar, requestID) = try killed(afterSeconds: 5, forSeconds: 10)
        #expect(try bench.host.report(ofRequest: requestID, to: nil).state == .queued)
        #expect(try commandCount(bench, of: collar, poll: 2, on: bench.openLink()) == 1)
        // 30 s have passed since it was given: what was kept is when it ends, not how long it waits.
        bench.wait(seconds: 14.9)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.requestEnds() == [:])
        bench.wait(seconds: 0.1)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.requestEnds() == [requestID: .expired])
        #expect(try bench.host.report(ofRequest: requestID, to: nil).state == .ended(.expired))
    }

    @Test func aCommandWhoseTimeEndedWithoutAHostIsNotSent() throws {
        let (bench, collar, requestID) = try killed(afterSeconds: 5, forSeconds: 60)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.requestEnds() == [requestID: .expired])
        #expect(try commandCount(bench, of: collar, poll: 2, on: bench.openLink()) == 0)
        // The file says it, too: the next process reports it no more.
        try bench.restart()
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.requestEnds() == [:])
        #expect(try bench.host.report(ofRequest: requestID, to: nil).state == .ended(.expired))
    }

    /// A frame may come before the first look at deadlines.
    @Test func aCommandWhoseTimeEndedIsNotSentToACollarThatIsHeardAtOnce() throws {
        let (bench, collar, requestID) = try killed(afterSeconds: 5, forSeconds: 60)
        #expect(try commandCount(bench, of: collar, poll: 2, on: bench.openLink()) == 0)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.requestEnds() == [requestID: .expired])
    }

    @Test func aCommandGoesOutBeforeAnAnswerAndEndsWithItsResult() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.commit()
        _ = (bench.frames(), bench.notices())
        let report = try bench.host.submit(.command(.locateNow), to: nil, patience: .untilHeard, at: bench.time)
        #expect(bench.frames().isEmpty)
        bench.receive(try collar.identity(poll: 2), on: link)
        bench.commit()
        let types = try bench.frames().map { try FrameHeader($0.bytes.span).type }
        #expect(types == [.command, .acknowledgement])
        bench.receive(try collar.result(report.requestID), on: link)
        let ends: [RequestReport] = bench.notices().compactMap { if case .requestEnded(let report) = $0 { report } else { nil } }
        #expect(ends.map(\.state) == [.ended(.result(.ok))])
        // Later the ended command causes neither another notice nor an overdue deadline.
        bench.wait(seconds: 8 * 86_400)
        bench.host.deadlineReached(at: bench.time)
        #expect(bench.notices().allSatisfy { if case .requestEnded = $0 { false } else { true } })
        #expect(bench.host.nextDeadline.map { $0 > bench.now } ?? true)
    }

    /// A simulation found this (seeds 8000000240 and 8000003632): the collar takes acknowledgements again, and was sent no request.
    @Test func aCollarThatWasErasedAfterItWasUnpairedGetsRequestsAgain() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.commit()
        let unpaired = try bench.host.submit(.command(.unpair), to: nil, patience: .untilHeard, at: bench.time)
        bench.receive(try collar.result(unpaired.requestID), on: link)
        bench.receive(try collar.identity(poll: 2), on: link)
        bench.commit()
        #expect(throws: RequestRefusal.notPaired(deviceID: collar.log.deviceID)) {
            try bench.host.submit(.settingsRequest, to: nil, patience: .untilHeard, at: bench.time)
        }
        collar = try PaperCollar(logID: 78)
        bench.receive(try collar.identity(poll: 3), on: link)
        bench.commit()
        _ = try bench.host.submit(.settingsRequest, to: nil, patience: .untilHeard, at: bench.time)
    }

    /// A simulation found this (seeds 9100008563 and 9200011585): the receiver remembered *unpair*, and not that the collar might have
    /// taken it again. Nor must it forget the release of a collar of which it stored nothing else: to that collar every request waited
    /// until its time was over.
    @Test(arguments: [true, false])
    func aReceiverThatStartsTakesRequestsUntilTheCollarSaysThatItIsReleased(isFixStored: Bool) throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        var link = bench.openLink()
        func restart(_ collar: PaperCollar) throws -> RequestReport {
            bench.commit()
            try bench.restart()
            link = bench.openLink()
            return try bench.host.submit(.settingsRequest, to: collar.log.deviceID, patience: .untilHeard, at: bench.time)
        }
        bench.receive(try collar.identity(), on: link)
        if isFixStored { bench.receive(try collar.fix(0), on: link) }
        bench.commit()
        let unpaired = try bench.host.submit(.command(.unpair), to: nil, patience: .untilHeard, at: bench.time)
        bench.receive(try collar.result(unpaired.requestID), on: link)
        let refused = try restart(collar)
        bench.receive(try collar.identity(), on: link)
        #expect(bench.requestEnds() == [refused.requestID: .result(.refused)])
        // It is erased, and both know of it before the next start.
        collar = try PaperCollar(logID: 78)
        bench.receive(try collar.identity(), on: link)
        bench.receive(try collar.fix(0), on: link)
        _ = try restart(collar)
        bench.receive(try collar.identity(), on: link)
        #expect(bench.requestEnds().isEmpty)
    }

    @Test func requestsAfterUnpairWaitForItsEnd() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.commit()
        _ = bench.frames()
        let unpair = try bench.host.submit(.command(.unpair), to: nil, patience: .untilHeard, at: bench.time)
        let second = try bench.host.submit(.command(.locateNow), to: nil, patience: .untilHeard, at: bench.time)
        bench.receive(try collar.identity(poll: 2), on: link)
        bench.commit()
        #expect(try bench.frames().map { try FrameHeader($0.bytes.span).type } == [.command, .acknowledgement])
        collar.receiverID = 0
        bench.receive(try collar.identity(poll: 3), on: link)
        #expect(bench.requestEnds() == [unpair.requestID: .result(.ok), second.requestID: .result(.refused)])
    }

    @Test func aCollarIsHandedOverToAnotherReceiver() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.commit()
        _ = (bench.frames(), bench.notices())
        let request = HostRequest.command(.pair(receiverID: 0x9A3F_21C0))
        _ = try bench.host.submit(request, to: nil, patience: .untilHeard, at: bench.time)
        bench.receive(try collar.identity(poll: 2), on: link)
        bench.commit()
        let first = try #require(bench.frames().first).bytes
        guard case .command(let command) = try Message.decode(first.span, log: collar.log, reference: 0) else {
            Issue.record("no command goes out")
            return
        }
        #expect(command.receiverID == bench.host.receiverID && command.action == .pair(receiverID: 0x9A3F_21C0))
        // An identity that names the other receiver ends the request. From then on this host only listens.
        collar.receiverID = 0x9A3F_21C0
        bench.receive(try collar.identity(poll: 3), on: link)
        bench.commit()
        #expect(bench.frames().isEmpty)
        let ends: [RequestReport] = bench.notices().compactMap { if case .requestEnded(let report) = $0 { report } else { nil } }
        #expect(ends.map(\.request) == [request])
    }

    @Test func aCommandOutlivesTheProcessUnderItsId() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        bench.receive(try collar.identity(), on: bench.openLink())
        bench.commit()
        let id = try bench.host.submit(.command(.reboot), to: nil, patience: .untilHeard, at: bench.time).requestID
        try bench.restart()
        #expect(try bench.host.report(ofRequest: id, to: nil).state == .queued)
        bench.wait(seconds: 7 * 86_400)
        bench.host.deadlineReached(at: bench.time)
        #expect(try bench.host.report(ofRequest: id, to: nil).state == .ended(.expired))
    }

    /// The deadline that the former process stored lies a year ahead of the clock that was set back.
    @Test func aClockThatIsSetBackMakesNoRequestWaitLonger() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        bench.receive(try collar.identity(), on: bench.openLink())
        bench.commit()
        let id = try bench.host.submit(.command(.reboot), to: nil, patience: .untilHeard, at: bench.time).requestID
        bench.startUnixMilliseconds -= 365 * 86_400_000
        try bench.restart()
        bench.wait(seconds: 7 * 86_400)
        bench.host.deadlineReached(at: bench.time)
        #expect(try bench.host.report(ofRequest: id, to: nil).state == .ended(.expired))
    }

    @Test func idsOfARestoredStateDirectoryAreOthers() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        collar.receiverID = bench.host.receiverID
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.commit()
        let first = try bench.host.submit(.command(.reboot), to: nil, patience: .untilHeard, at: bench.time).requestID
        bench.receive(try collar.result(first), on: link)
        try bench.restart()
        let second = try bench.host.submit(.command(.reboot), to: nil, patience: .untilHeard, at: bench.time).requestID
        #expect(second &- first > 8)
    }
}
