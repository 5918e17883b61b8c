import CollarARQ
import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal
import CollarLink
import CollarWire

/// The journal and the receiver of a ``MockSession``.
actor MockDriver: SessionDriver {
    static let deviceID: DeviceID = 0x910A_2DEC_8902_5CC1
    static let logID: LogID = 0x2D_8CCB
    private static let port = "radio"

    private let clock: VirtualClock
    private let journal: Journal
    private let eventLog: EventLogWriter
    private(set) var requests: [MockRequest] = []
    private var answer: @Sendable (MockRequest) -> MockRequest.Answer = { _ in .done }
    private var results: [UInt16: [UInt8]] = [:]
    private(set) var isRunning = true
    private var isRadioOpen = true
    private var isReachable: Bool?
    private var isFinished = false

    init(directory: String, clock: VirtualClock) throws(UserFacingError) {
        self.clock = clock
        eventLog = EventLogWriter(stateDirectory: directory)
        do throws(JournalError) {
            journal = try Journal.open(
                stateDirectory: directory, deviceID: MockDriver.deviceID, receiverID: 1, nowUnixMilliseconds: clock.time.unixMilliseconds)
        } catch { throw UserFacingError(.stateUnusable, reason: error.message.reason) }
    }

    func step(until limit: Instant?, after count: Int) async -> Bool {
        if isFinished { return false }
        await clock.change(after: count)
        return true
    }

    func finish() {
        isFinished = true
        clock.noteChange()
    }

    // MARK: What comes from the collar

    func receive(_ location: LocationFix) throws(UserFacingError) -> LocationFix {
        let fix: Fix
        do throws(QuantizationError) { fix = try Fix(quantizing: location) } catch {
            throw UserFacingError(.badRequest, reason: "The fix cannot be sent: \(error.description).")
        }
        let record = JournaledFix(logID: MockDriver.logID, receivedUnixMilliseconds: clock.time.unixMilliseconds, fix: fix)
        try store { journal throws(JournalError) in try journal.append(record) }
        let id = FixIdentifier(deviceID: MockDriver.deviceID, logID: MockDriver.logID, sequence: fix.sequence)
        return LocationFix(id: id.uuid, fix: fix)
    }

    func lose(_ sequences: ClosedRange<Int>) throws(UserFacingError) {
        guard let first = UInt32(exactly: sequences.lowerBound), let last = UInt32(exactly: sequences.upperBound),
            last <= Fix.maximumSequence, let range = SequenceRange(first, last)
        else { throw UserFacingError(.badRequest, reason: "Sequences are from 0 to \(Fix.maximumSequence).") }
        let loss = JournaledLoss(
            logID: MockDriver.logID, range: range, reason: .overwritten,
            receivedUnixMilliseconds: clock.time.unixMilliseconds)
        try store { journal throws(JournalError) in try journal.append(loss) }
    }

    func receiveMessage(code: UInt8, payload: [UInt8], wantsReply: Bool, request: Int?) throws(UserFacingError) -> Int {
        var kind: ApplicationMessage.Kind = wantsReply ? .request : .notice
        if let request { kind = .reply(to: UInt32(clamping: request), .ok) }
        let time = clock.time.unixMilliseconds
        guard let content = ApplicationMessage(kind: kind, code: code, unixSeconds: UInt32(clamping: time / 1000), data: payload.span) else {
            throw UserFacingError(.badRequest, reason: "A message has at most \(ApplicationMessage.dataLimit) bytes, and this one has \(payload.count).")
        }
        let sequence = journal.known(logID: MockDriver.logID).highest.map { $0 + 1 } ?? 0
        let record = JournaledMessage(
            logID: MockDriver.logID, receivedUnixMilliseconds: time, message: CollarMessage(sequence: sequence, content: content))
        try store { journal throws(JournalError) in try journal.append(record) }
        return Int(sequence)
    }

    private func store(_ append: (Journal) throws(JournalError) -> Bool) throws(UserFacingError) {
        var isNew = false
        do throws(JournalError) {
            isNew = try append(journal)
            try journal.commit()
        } catch { throw UserFacingError(.storageFailing, reason: error.message.reason) }
        guard isNew else { throw UserFacingError(.fixChanged, reason: "An entry with this sequence has arrived before.") }
        clock.noteChange()
    }

    // MARK: What the receiver does

    func report(_ event: CollarEvent.Kind) throws(UserFacingError) {
        var deviceID: DeviceID? = MockDriver.deviceID
        switch event {
        case .opened, .unplugged, .closed: deviceID = nil
        default: break
        }
        guard let line = event.line(at: clock.time.unixMilliseconds, deviceID: deviceID) else {
            throw UserFacingError(.badRequest, reason: "A session writes no lines of this kind.")
        }
        do throws(FileFailure) { try eventLog.append(line) } catch { throw UserFacingError(.storageFailing, reason: "\(error)") }
        clock.noteChange()
    }

    func setAnswer(_ answer: @escaping @Sendable (MockRequest) -> MockRequest.Answer) { self.answer = answer }

    func setRunning(_ isRunning: Bool) {
        self.isRunning = isRunning
        clock.noteChange()
    }

    func setReachable(_ isReachable: Bool?, isRadioOpen: Bool) {
        (self.isReachable, self.isRadioOpen) = (isReachable, isRadioOpen)
        clock.noteChange()
    }

    func answer(to line: [UInt8]) -> [UInt8] {
        let now = clock.time.unixMilliseconds
        if let isFigures = try? FiguresRequest.isIn(line), isFigures { return figures.line(unixMilliseconds: now) }
        let wanted: ControlRequest
        do throws(ControlRequest.Fault) { wanted = try ControlRequest(line: line) } catch {
            return ResultLine(rejectedAt: now, code: ErrorCode.badRequest.rawValue, reason: error.reason).bytes
        }
        if case .await(let id) = wanted.content {
            return results[id] ?? ResultLine(outcome: .queued, unixMilliseconds: now, deviceID: MockDriver.deviceID, requestID: id).bytes
        }
        let request = MockRequest(wanted, number: requests.count + 1, line)
        requests.append(request)
        return result(of: request, at: now)
    }

    private func result(of request: MockRequest, at now: Int64) -> [UInt8] {
        let id = UInt16(truncatingIfNeeded: request.number)
        var line = ResultLine(outcome: .queued, unixMilliseconds: now, deviceID: MockDriver.deviceID, requestID: id, verb: request.verb)
        var end = line
        switch answer(request) {
        case .queued: return line.bytes
        case .done: end.outcome = .ok
        case .outcome(let name): end.outcome = ResultLine.Outcome(rawValue: name) ?? .failed
        case .rejected(let code):
            line = ResultLine(
                rejectedAt: now, code: code.rawValue, reason: "\(code.title).", deviceID: MockDriver.deviceID, verb: request.verb)
            return line.bytes
        case .reply(let payload):
            end.outcome = .ok
            let reply = try? receiveMessage(code: request.code ?? 0, payload: payload, wantsReply: false, request: request.number)
            // A collar sends no reply that is too long.
            if reply == nil { end.outcome = .failed }
        }
        results[id] = end.bytes
        return line.bytes
    }

    func takeResult(of requestID: UInt16) -> [UInt8]? { results.removeValue(forKey: requestID) }

    private var figures: ReceiverFigures {
        var figures = ReceiverFigures()
        figures.radios = [RadioFigures(port: MockDriver.port, state: isRadioOpen ? .open : .waiting, dialect: "serial")]
        var values: [CollarFigure: Int64] = [.heard: isReachable == nil ? 0 : 1]
        if isRadioOpen {
            values[.silence] = 0
            values[.reachable] = isReachable.map { $0 ? 1 : 0 }
        }
        figures.collars[MockDriver.deviceID] = values
        return figures
    }
}

extension MockRequest {
    fileprivate init(_ request: ControlRequest, number: Int, _ line: [UInt8]) {
        var message: ApplicationMessage?
        if case .command(.message(let content)) = request.content { message = content }
        var reply: Int?
        if case .reply(let sequence, _) = message?.kind { reply = Int(sequence) }
        let data = message.map { message in message.data.indices.map { message.data[$0] } }
        self.init(
            verb: request.verb, number: number, code: message?.code, payload: data ?? [], reply: reply,
            json: String(decoding: line, as: UTF8.self))
    }
}
