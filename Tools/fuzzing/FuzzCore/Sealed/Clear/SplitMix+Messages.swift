import CollarWire

extension SplitMix {
    /// A valid message of a type that is sealed and is no fix.
    mutating func message(_ type: MessageType, of collar: FuzzedCollar, bootCount: UInt32) -> Message {
        let requestID = UInt16(truncatingIfNeeded: anyNumber())
        // A receiver's id need not be that with which the collar is paired.
        let receiverID = oneIn(4) ? max(1, anyNumber()) : collar.receiverID
        switch type {
        case .identity: return .identity(identity(of: collar.log, bootCount: bootCount, pairedWith: receiverID))
        case .probe: return .probe(Probe(logTag: collar.log.tag, nextSequence: anyNumber()))
        case .status: return .status(status())
        case .powerReport: return .powerReport(powerReport())
        case .settingsReport: return .settings(settings(.report, requestID))
        case .settingsUpdate: return .settings(settings(.update, requestID))
        case .settingsRequest: return .settingsRequest(SettingsRequest(requestID: requestID))
        case .commandResult: return .commandResult(CommandResult(requestID: requestID, outcome: outcome()))
        case .tombstone: return .tombstone(Tombstone(ranges: ascendingRanges(1 + below(6), from: anyNumber() / 2)))
        case .collarMessage:
            let sequence = min(anyNumber(), Fix.maximumSequence)
            return .collarMessage(CollarMessage(sequence: sequence, content: applicationMessage()))
        case .hostMessage:
            let content = applicationMessage()
            return .hostMessage(HostMessage(requestID: requestID, receiverID: receiverID, content: content))
        case .command: return .command(Command(requestID: requestID, receiverID: receiverID, action: action()))
        case .acknowledgement: return .acknowledgement(acknowledgement(by: receiverID))
        case .absoluteFix, .liveFix, .batch, .radioIdentity, .modemSettings, .signalReport, .identityRequest:
            preconditionFailure("this type is made elsewhere, or never sealed")
        }
    }

    private mutating func identity(of log: LogIdentity, bootCount: UInt32, pairedWith receiverID: UInt32) -> Identity {
        let next = anyNumber()
        return Identity(
            log: log, bootCount: bootCount, oldestSequence: min(anyNumber(), next), nextSequence: next,
            pairedReceiverID: oneIn(4) ? 0 : receiverID, maximumFrameByteCount: UInt8(51 + below(203)),
            firmwareVersion: FirmwareVersion(major: byte(), minor: byte(), patch: byte()),
            capabilities: Capabilities(rawValue: UInt16(below(16))), heartbeatSeconds: UInt16(below(65_536)),
            deliveredElsewhere: oneIn(2) ? 0 : min(anyNumber(), next))
    }

    private mutating func status() -> Status {
        var status = Status()
        status.isTracking = oneIn(2)
        status.trackingSinceUnixSeconds = anyNumber()
        status.gnssState = Status.GNSSState(rawValue: UInt8(below(4))) ?? .off
        status.throttleState = Status.ThrottleState(rawValue: UInt8(below(4))) ?? .none
        status.isStationary = oneIn(2)
        status.isResting = oneIn(2)
        status.batteryPercent = oneIn(4) ? nil : UInt8(below(101))
        status.batteryMillivolts = oneIn(4) ? nil : UInt16(below(8191))
        status.temperatureCelsius = oneIn(4) ? nil : Int8(below(255) - 127)
        status.uptimeSeconds = anyNumber()
        status.lastError = CollarFault(rawValue: byte())
        status.fixesSent = anyNumber()
        status.queueDepth = anyNumber() &>> 8
        status.airtimeMilliseconds = anyNumber()
        if oneIn(4) {
            status.clock = Status.Clock(
                unixMilliseconds: Int64(anyNumber()) * 1000, uptimeMilliseconds: UInt16(below(1000)))
        }
        return status
    }

    private mutating func powerReport() -> PowerReport {
        var report = PowerReport()
        report.mode = PowerReport.Mode(rawValue: UInt8(below(6))) ?? .stopped
        report.supply = PowerReport.Supply(rawValue: UInt8(below(6))) ?? .off
        report.uptimeSeconds = anyNumber()
        report.secondsToSearch = oneIn(4) ? nil : UInt32(below(0xFF_FFFF))
        report.failuresInRow = byte()
        report.timeToFixTenths = oneIn(4) ? nil : UInt16(below(0xFFFF))
        report.gnssSeconds = anyNumber()
        report.listeningMilliseconds = anyNumber()
        report.awakeMilliseconds = anyNumber()
        report.searches = anyNumber() &>> 8
        report.failures = anyNumber() &>> 8
        return report
    }

    private mutating func settings(_ direction: Settings.Direction, _ requestID: UInt16) -> Settings {
        var entries = SettingList()
        for _ in 0..<below(4) { entries.append(Setting(key: byte(), value: anyNumber())) }
        return Settings(
            direction: direction, requestID: requestID, version: SettingsVersion(rawValue: next()), entries: entries)
    }

    private mutating func outcome() -> CommandResult.Outcome {
        CommandResult.Outcome(rawValue: UInt8(below(9))) ?? .ok
    }

    private mutating func action() -> Command.Action {
        let plain = [.startTracking, .stopTracking, .locateNow, .reboot, .unpair, .reportPower] as InlineArray<6, Command.Action>
        switch below(5) {
        case 0: return .sound(milliseconds: UInt16(below(65_536)))
        case 1: return .pair(receiverID: max(1, anyNumber()))
        case 2: return .find(seconds: UInt16(below(65_536)))
        default: return plain[below(6)]
        }
    }

    private mutating func applicationMessage() -> ApplicationMessage {
        let kind: ApplicationMessage.Kind =
            switch below(3) {
            case 0: .notice
            case 1: .request
            default: .reply(to: anyNumber(), outcome())
            }
        let data = (0..<below(ApplicationMessage.dataLimit + 1)).map { _ in byte() }
        guard
            let message = ApplicationMessage(kind: kind, code: byte(), unixSeconds: anyNumber(), data: data.span)
        else { preconditionFailure("the data have the right size") }
        return message
    }

    private mutating func acknowledgement(by receiverID: UInt32) -> Acknowledgement {
        let firstMissing = anyNumber() / 2
        var answer = Acknowledgement(
            receiverID: receiverID, poll: PollNumber(rawValue: UInt8(below(8))), firstMissing: firstMissing)
        let ranges = ascendingRanges(below(5), from: firstMissing + 2)
        for index in 0..<ranges.count { answer.durable.append(ranges[ranges.count - 1 - index]) }
        answer.resend = ascendingRanges(below(2), from: firstMissing / 2)
        return answer
    }

    /// Ranges that do not touch, the oldest first.
    private mutating func ascendingRanges(_ count: Int, from start: UInt32) -> SequenceRangeList {
        var ranges = SequenceRangeList()
        var first = start
        for _ in 0..<count {
            first += UInt32(below(1000))
            let last = first + UInt32(below(100))
            if let range = SequenceRange(first, last) { ranges.append(range) }
            first = last + 2
        }
        return ranges
    }
}
