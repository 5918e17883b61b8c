import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// The frames of a ``ScheduleTrial``, and the rules for silence and listening.
extension ScheduleTrial {
    /// Sends and receives what is due now.
    mutating func exchange() {
        if let sending = radio.sending, now >= sending.end { frameIsSent(sending.poll) }
        while let first = radio.arrivals.first, first.time <= now {
            radio.arrivals.removeFirst()
            hear(first.content)
        }
        if heartbeatSeconds != radio.heartbeatSeconds {
            radio.heartbeatSeconds = heartbeatSeconds
            radio.lastTraffic = now
        }
        guard !radio.isSending else { return }
        var isFrame = false
        do throws(FlashError) {
            let frame = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(FlashError) in
                isFrame = try device.nextFrame(now: instant, into: &output)
            }
            if isFrame { send(frame) }
        } catch { broken("the flash fails") }
    }

    /// The longest silence, in seconds.
    var heartbeatSeconds: Int64 {
        if isFinding { return 10 }
        if isTracking, isAtRest, setting(.restHeartbeatSeconds) > 0 { return setting(.restHeartbeatSeconds) }
        guard isTracking, setting(.heartbeatSeconds) == 60 else { return setting(.heartbeatSeconds) }
        // The live intervals keep their defaults, of which the longest is 5 s.
        let longest = max(
            5000, setting(.lowBatteryCaptureIntervalMilliseconds), setting(.fixIntervalMilliseconds), setting(.restFixIntervalMilliseconds))
        return min(65_535, max(60, (longest * 3 + 1999) / 2000))
    }

    private mutating func send(_ frame: [UInt8]) {
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            if let awaited = radio.awaited {
                if now < awaited.deadline { broken("a frame is sent \(awaited.deadline - now) us before the time-out of a poll") }
                radio.attempt = awaited.attempt + 1
                radio.awaited = nil
                radio.lastUnanswered = now
            } else if header.type == .probe, now < radio.lastTraffic + 1_000_000 * radio.heartbeatSeconds {
                broken("a probe after \(now - radio.lastTraffic) us, with a heartbeat of \(radio.heartbeatSeconds) s")
            }
            radio.closeWindow(at: now)
            radio.sending = (now + ScheduleRadio.modem.airtimeMicroseconds(frameByteCount: frame.count), header.flags.poll)
            let isJudged = [.absoluteFix, .status, .settingsReport, .powerReport].contains(header.type)
            guard isJudged, device.collar.nextSequence > 0 || header.type != .absoluteFix else { return }
            let reference = max(device.collar.nextSequence, 1) - 1
            judge(try Message.decode(frame.span, log: device.collar.log, reference: reference))
        } catch { broken("a frame does not decode: \(error)") }
    }

    private mutating func frameIsSent(_ poll: PollNumber?) {
        radio.sending = nil
        radio.lastTraffic = now
        device.frameSent(now: instant)
        guard let poll else { return }
        let longest = isFinding || setting(.outOfReachSeconds) == 0 ? 30 : setting(.outOfReachSeconds)
        var timeout = ScheduleRadio.answerMicroseconds
        for _ in 0..<min(30, radio.attempt / 3) { timeout = min(2 * timeout, 1_000_000 * longest) }
        radio.awaited = ScheduleRadio.Awaited(poll: poll, attempt: radio.attempt, deadline: now + timeout)
        let answers: Int64 = radio.attempt > 0 ? 2 : 1
        radio.window = ScheduleRadio.Window(begin: now, end: now + min(timeout, answers * ScheduleRadio.answerMicroseconds))
        guard radio.isInReach, !isLost else { return }
        var time = now + random.between(5000, 70_000)
        if radio.isPaired {
            for wish in radio.wishes.prefix(random.below(4)) {
                time += ScheduleRadio.modem.airtimeMicroseconds(frameByteCount: 40)
                if !isLost { radio.arrivals.append((time, .wish(wish))) }
            }
        }
        time += ScheduleRadio.modem.airtimeMicroseconds(frameByteCount: 18)
        if !isLost { radio.arrivals.append((time, .answer(poll))) }
    }

    private var isLost: Bool { mutating get { random.below(100) < radio.lossPercent } }

    /// A frame of the host ends. The radio hears it only while it must receive.
    private mutating func hear(_ content: ScheduleRadio.Downlink) {
        guard let window = radio.window, now < window.end else { return }
        switch content {
        case .answer(let poll):
            let answer = Acknowledgement(receiverID: Self.receiverID, poll: poll, firstMissing: device.collar.nextSequence)
            let reception = receive { output, log throws(EncodeError) in try answer.encode(address: 9, log: log, into: &output) }
            radio.lastTraffic = now
            // An answer may come so late that the collar has sent its next poll.
            let isLate = radio.awaited?.poll != poll
            if reception != .acknowledgement(isLate ? .unasked : .answer) { broken("an answer is \(reception)") }
            guard !isLate else { return }
            radio.closeWindow(at: now)
            radio.isPaired = true
            radio.awaited = nil
            radio.attempt = 0
        case .wish(let wish):
            if window.extensionsLeft > 0 {
                let later = now + ScheduleRadio.answerMicroseconds
                radio.window?.extensionsLeft -= 1
                radio.window?.end = max(window.end, later)
                if let deadline = radio.awaited?.deadline { radio.awaited?.deadline = max(deadline, later) }
            }
            obey(wish)
            follow()
        }
    }

    private mutating func receive(
        _ encode: (inout OutputSpan<UInt8>, LogIdentity) throws(EncodeError) -> Void
    ) -> Collar<MemoryFlash>.Reception {
        let log = device.collar.log
        let frame = [UInt8].frame { output throws(EncodeError) in try encode(&output, log) }
        do throws(FlashError) { return try device.receive(frame.span, now: instant) } catch {
            broken("the flash fails")
            return .silent
        }
    }

    private mutating func obey(_ wish: Wish) {
        let reception: Collar<MemoryFlash>.Reception
        switch wish.content {
        case .command(let action):
            let command = Command(requestID: wish.id, receiverID: Self.receiverID, action: action)
            reception = receive { output, log throws(EncodeError) in try command.encode(address: 9, log: log, into: &output) }
        case .settings(let values):
            var entries = SettingList()
            for (key, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                entries.append(Setting(key: key.rawValue, value: value))
            }
            let version = SettingsVersion(rawValue: UInt64(wish.id) << 20)
            let update = Settings(direction: .update, requestID: wish.id, version: version, entries: entries)
            reception = receive { output, log throws(EncodeError) in
                try update.encode(address: 9, flags: FrameFlags(poll: nil), log: log, into: &output)
            }
        case .report:
            let request = SettingsRequest(requestID: wish.id)
            reception = receive { output, log throws(EncodeError) in try request.encode(address: 9, log: log, into: &output) }
        }
        switch (reception, wish.content) {
        case (.command(_, let action), _): carryOut(action)
        case (.settingsChanged, .settings(let values)): set(values)
        case (.settingsRequest, _), (.repeatedRequest, _): break
        // Too many replies wait: the host repeats the request. Settings that were overtaken are a conflict.
        case (.requestNotTaken, _): return
        case (.requestNotExecuted(_, .conflict), .settings): break
        default: broken("a request in the window is \(reception)")
        }
        radio.isDone(wish)
    }

    private mutating func carryOut(_ action: Command.Action) {
        statusReasons += 2
        switch action {
        case .locateNow: if locateEnd == nil { locateEnd = now + 120_000_000 }
        case .find(let seconds): findEnd = seconds > 0 ? now + 1_000_000 * Int64(seconds) : nil
        case .startTracking: isTracking = true
        case .stopTracking: (isTracking, findEnd, locateEnd) = (false, nil, nil)
        case .reportPower: radio.isPowerReportOwed = true
        default: break
        }
    }
}
