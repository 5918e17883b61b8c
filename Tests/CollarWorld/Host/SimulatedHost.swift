import CollarARQ
import CollarWire

/// A host of a ``World``: the real state machines over a storage that outlives it, in one process that waits for its
/// disk.
final class SimulatedHost {
    /// One collar as the host knows it.
    struct Session {
        let deviceID: UInt64
        /// The log heard last comes first.
        var deliveries: [HostDelivery] = []
        var address: UInt8?
        var frameLimit = Frame.minimumLimitByteCount
    }

    let index: Int
    let receiverID: UInt32
    let storage: any FaultyStorage
    /// Who takes the lines.
    let consumer = LineConsumer()
    private let oracle: Oracle
    private(set) var sessions: [Session] = []
    private var sessionAtAddress: [UInt8: Int] = [:]
    private var stream = StreamDecoder()
    private var lastIdentityRequest: Int64?
    private(set) var isHeard = false
    /// Whether the process runs.
    private(set) var isRunning = false
    /// Counts processes: an event of an earlier one is void.
    private(set) var life = 0
    /// Bytes that came in while the process waited for its disk; nil while it does not.
    private(set) var unread: [UInt8]?
    /// Questions to send.
    private var questions: [[UInt8]] = []
    /// Requests to each collar; kept durably, so that they outlive the process.
    private var desks: [UInt64: RequestDesk] = [:]

    /// Bytes a tty keeps for a process that does not read.
    static let unreadLimit = 4096

    init(index: Int, storage: any FaultyStorage, oracle: Oracle) {
        self.index = index
        self.storage = storage
        self.oracle = oracle
        receiverID = 0x4057_0001 + UInt32(index)
    }

    /// A process starts.
    /// - Returns: whether it runs: not where the state directory cannot be opened.
    func start() -> Bool {
        do throws(StorageFailure) { try storage.reopen() } catch {
            if error == .otherReceiver { oracle.report(.receiverStaysItself, "host \(index) is another receiver") }
            storage.stop(losesPower: false)
            return false
        }
        isRunning = true
        for log in storage.logs { _ = session(for: log) }
        if let wrong = consumer.hostStarted(storage) { oracle.report(.emissionGoesOn, "host \(index): \(wrong)") }
        return true
    }

    /// The process is gone, or the whole machine.
    func stop(losesPower: Bool) {
        storage.stop(losesPower: losesPower)
        consumer.hostStopped()
        life += 1
        isRunning = false
        sessions = []
        sessionAtAddress = [:]
        unread = nil
        questions = []
        isHeard = false
        lastIdentityRequest = nil
        restartStream()
    }

    /// The port was opened again.
    func restartStream() { stream = StreamDecoder() }

    /// Hands over the lines that are taken now.
    /// - Returns: false where the process cannot read its journal and ends.
    func emitLines(now: Int64) -> Bool {
        do throws(StorageFailure) {
            let wrong = try consumer.takeLines(from: storage, now: now) { [oracle] fix, log in
                oracle.record(of: log)?.permits(fix) != true
            }
            if let wrong {
                oracle.report(.oneContentPerID, "host \(index) hands over \(wrong.sequence) as it was not logged")
            }
            return true
        } catch { return false }
    }

    /// Begins to wait for the disk.
    func beginCommit() { unread = [] }

    /// The disk is done.
    /// - Returns: what came in meanwhile.
    func endCommit() -> [UInt8] {
        defer { unread = nil }
        do throws(StorageFailure) { try storage.commit() } catch {
            // What is durable is still true; nothing more is acknowledged.
        }
        return unread ?? []
    }

    /// Serial bytes from the base radio.
    func received(_ bytes: [UInt8], now: Int64) {
        guard isRunning else { return }
        if let waiting = unread {
            if waiting.count + bytes.count <= SimulatedHost.unreadLimit { unread = waiting + bytes }
            return
        }
        var index = 0
        while let event = stream.next(in: bytes.span, at: &index) {
            guard case .frame = event else { continue }
            let span = stream.frame
            let frame = span.indices.map { span[$0] }
            guard let isGenuine = oracle.isGenuine(frame) else { continue }
            let isAccepted = received(frame: frame, now: now)
            if isAccepted, !isGenuine {
                oracle.report(.damageIsRejected, "host \(self.index) accepts \(FrameText(frame, nil))")
            }
        }
    }

    /// - Returns: whether the frame passed its check.
    private func received(frame: [UInt8], now: Int64) -> Bool {
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            guard let type = header.type else { return false }
            guard type.isBoundToLog else { return try receivedUnbound(frame, header, type, now: now) }
            guard type.isFromCollar else { return false }
            if type == .liveFix { return receivedLive(frame, header, now: now) }
            guard let (session, log) = sender(of: frame, address: header.address) else {
                unchecked(header, now: now)
                return false
            }
            let delivery = sessions[session].deliveries[log]
            switch try Message.decode(frame.span, log: delivery.log, reference: delivery.highestSequence) {
            case .fix(let fix):
                heard(session, log, header)
                store(fix, session, log)
            case .batch(let batch):
                heard(session, log, header)
                batch.forEach { store($0, session, log) }
            case .tombstone(let tombstone):
                heard(session, log, header)
                for index in 0..<tombstone.ranges.count { storeLoss(of: tombstone.ranges[index], session, log) }
            case .commandResult(let result):
                heard(session, log, header)
                if let ended = desk(delivery.log.deviceID).queue.received(result) {
                    oracle.ended(ended, log: delivery.log, host: self.index)
                }
            case .settings(let report):
                heard(session, log, header)
                let desk = desk(delivery.log.deviceID)
                desk.reported(report, of: delivery.log)
                if let ended = desk.queue.received(report) { oracle.ended(ended, log: delivery.log, host: self.index) }
            default: heard(session, log, header)
            }
            return true
        } catch { return false }
    }

    private func receivedUnbound(
        _ frame: [UInt8], _ header: FrameHeader, _ type: MessageType, now: Int64
    ) throws(DecodeError) -> Bool {
        switch try Message.decode(frame.span, log: nil, reference: 0) {
        case .identity(let identity):
            let index = session(for: identity.log)
            sessions[index].frameLimit = Int(identity.maximumFrameByteCount)
            heard(index, 0, header)
            while desk(identity.log.deviceID).queue.learnedReceiver(identity.pairedReceiverID) != nil {}
            if identity.nextSequence > 0 { sessions[index].deliveries[0].learned(of: identity.nextSequence - 1) }
            if identity.oldestSequence > 0, let gone = SequenceRange(0, identity.oldestSequence - 1) {
                storeLoss(of: gone, index, 0)
            }
        case .probe(let probe):
            for index in sessions.indices {
                guard let log = sessions[index].deliveries.firstIndex(where: { $0.log.tag == probe.logTag }) else {
                    continue
                }
                heard(index, log, header)
                if probe.nextSequence > 0 { sessions[index].deliveries[log].learned(of: probe.nextSequence - 1) }
                return true
            }
            ask(address: header.address, isAnswer: header.flags.ask != nil, now: now)
        default: break
        }
        return true
    }

    private func receivedLive(_ frame: [UInt8], _ header: FrameHeader, now: Int64) -> Bool {
        for index in sessions.indices {
            for log in sessions[index].deliveries.indices {
                let delivery = sessions[index].deliveries[log]
                guard
                    let named = LiveFix.sequences(of: frame.span, header: header, reference: delivery.highestSequence),
                    let anchor = storage.fix(named.anchor, of: delivery.log)
                else { continue }
                do throws(DecodeError) {
                    let fix = try LiveFix.decode(
                        frame.span, sequence: named.sequence, anchor: anchor, log: delivery.log)
                    heard(index, log, header)
                    store(fix, index, log)
                    return true
                } catch { continue }
            }
        }
        unchecked(header, now: now)
        return false
    }

    private func session(for log: LogIdentity) -> Int {
        let index: Int
        if let known = sessions.firstIndex(where: { $0.deviceID == log.deviceID }) {
            index = known
        } else {
            sessions.append(Session(deviceID: log.deviceID))
            index = sessions.count - 1
        }
        if let known = sessions[index].deliveries.firstIndex(where: { $0.log == log }) {
            sessions[index].deliveries.swapAt(0, known)
        } else {
            let delivery = HostDelivery(
                log: log, receiverID: receiverID, highestSequence: storage.highestSequence(of: log) ?? 0)
            sessions[index].deliveries.insert(delivery, at: 0)
        }
        return index
    }

    private func sender(of frame: [UInt8], address: UInt8) -> (session: Int, log: Int)? {
        if let recent = sessionAtAddress[address], let log = indexOfLog(of: frame, recent) { return (recent, log) }
        for index in sessions.indices {
            if let log = indexOfLog(of: frame, index) { return (index, log) }
        }
        return nil
    }

    private func indexOfLog(of frame: [UInt8], _ session: Int) -> Int? {
        sessions[session].deliveries.firstIndex { FrameCheck.isValid(frame.span, log: $0.log) }
    }

    private func heard(_ session: Int, _ log: Int, _ header: FrameHeader) {
        isHeard = true
        sessions[session].address = header.address
        sessionAtAddress[header.address] = session
        sessions[session].deliveries[log].received(flags: header.flags)
    }

    private func store(_ fix: Fix, _ session: Int, _ log: Int) {
        let identity = sessions[session].deliveries[log].log
        oracle.decoded(fix, log: identity, self)
        sessions[session].deliveries[log].learned(of: fix.sequence)
        do throws(StorageFailure) { _ = try storage.append(fix, of: identity) } catch {
            // The collar sends it again.
        }
    }

    private func storeLoss(of range: SequenceRange, _ session: Int, _ log: Int) {
        let identity = sessions[session].deliveries[log].log
        oracle.counts(asLost: range, log: identity, self)
        sessions[session].deliveries[log].learned(of: range.last)
        do throws(StorageFailure) { _ = try storage.append(lost: range, of: identity) } catch {
            // The collar says it again.
        }
    }

    private func unchecked(_ header: FrameHeader, now: Int64) {
        guard sessionAtAddress[header.address] == nil else { return }
        ask(address: header.address, isAnswer: header.flags.ask != nil, now: now)
    }

    /// Asks who is there, not more than once a second unless somebody waits for an answer.
    func ask(address: UInt8, isAnswer: Bool = false, now: Int64) {
        if !isAnswer, let last = lastIdentityRequest, now - last < 1_000_000 { return }
        lastIdentityRequest = now
        questions.append(
            frame(limit: Frame.minimumLimitByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try IdentityRequest(receiverID: receiverID).encode(address: address, into: &output)
            })
    }

    /// Everything the host has to say now: answers with what is durable at this moment.
    func takeFrames(now: Int64) -> [[UInt8]] {
        var frames = questions
        questions = []
        for index in sessions.indices {
            guard let address = sessions[index].address, storage.isServed(sessions[index].deviceID) else { continue }
            for log in sessions[index].deliveries.indices {
                let identity = sessions[index].deliveries[log].log
                let durable = storage.durable(of: identity)
                guard sessions[index].deliveries[log].isAnswerWanted else { continue }
                frames += requests(of: sessions[index].deviceID, address: address, log: identity, now: now)
                guard let answer = sessions[index].deliveries[log].takeAnswer(from: durable) else { continue }
                frames.append(
                    frame(limit: sessions[index].frameLimit) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                        try answer.encode(address: address, log: identity, into: &output)
                    })
            }
        }
        for frame in frames { oracle.handsOut(frame, self) }
        return frames
    }

    /// Requests to a collar.
    func desk(_ deviceID: UInt64) -> RequestDesk {
        if let desk = desks[deviceID] { return desk }
        let desk = RequestDesk(receiverID: receiverID, lastRequestID: UInt16(index) &* 0x4000)
        desks[deviceID] = desk
        return desk
    }

    private func requests(of deviceID: UInt64, address: UInt8, log: LogIdentity, now: Int64) -> [[UInt8]] {
        let desk = desk(deviceID)
        desk.expire(now: now)
        desk.queue.beginWindow()
        var frames: [[UInt8]] = []
        while true {
            let request = frame(limit: Frame.minimumLimitByteCount) {
                (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                _ = try desk.queue.nextOfWindow(address: address, log: log, into: &output)
            }
            guard !request.isEmpty else { return frames }
            frames.append(request)
        }
    }

    private func frame(
        limit: Int, _ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void
    ) -> [UInt8] {
        do throws(EncodeError) {
            return try [UInt8](capacity: limit) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try encode(&output)
            }
        } catch {
            oracle.report(.noRefusal, "host \(index) cannot write a frame: \(error)")
            return []
        }
    }
}
