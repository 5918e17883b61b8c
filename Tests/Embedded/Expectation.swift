import CollarWire

/// The expected numbers of a message. The numbers of a decoded message are compared with them one by one.
struct Expectation {
    private var table: Table
    private var left: UInt32
    private var isMet = true

    /// Takes the next numbers of the table.
    init(_ table: inout Table) {
        left = table.word()
        self.table = table
        table.skipNumbers(left)
    }

    /// Whether the message holds exactly the expected numbers.
    func isMet(by message: Message) -> Bool {
        var comparison = self
        comparison.compare(message)
        return comparison.isMet && comparison.left == 0
    }

    /// The expected fixes of a batch, one after the other.
    var fixes: ExpectedFixes { ExpectedFixes(table) }

    /// Compares the next field. Fields are in the alphabetical order of their names in PROTOCOL.md.
    private mutating func expect(_ number: Int64?) {
        guard left > 0 else { return isMet = false }
        left &-= 1
        if table.number() != number { isMet = false }
    }

    private mutating func expect(_ number: UInt32) { expect(Int64(widening: number)) }
    private mutating func expect(_ number: Int32) { expect(Int64(widening: number)) }
    private mutating func expect(_ number: UInt16) { expect(UInt32(number)) }
    private mutating func expect(_ number: UInt8) { expect(UInt32(number)) }
    private mutating func expect(_ number: UInt64) { expect(Int64(bitPattern: number)) }
    private mutating func expect(_ bit: Bool) { expect(bit ? 1 as UInt32 : 0) }
    private mutating func expect(length: Int) { expect(UInt32(truncatingIfNeeded: length)) }
    private mutating func expect(_ number: Int32?) { expect(number.map { Int64(widening: $0) }) }
    private mutating func expect(_ number: UInt32?) { expect(number.map { Int64(widening: $0) }) }
    private mutating func expect(_ number: UInt8?) { expect(number.map { Int64(widening: $0) }) }

    private mutating func compare(_ message: Message) {
        switch message {
        case .identity(let identity): compare(identity)
        case .fix(let fix): compare(fix)
        case .batch(let batch): compare(batch)
        case .probe(let probe):
            expect(probe.nextSequence)
            expect(probe.logTag)
        case .tombstone(let tombstone): compare(tombstone.ranges)
        case .status(let status): compare(status)
        case .powerReport(let report): compare(report)
        case .settings(let settings): compare(settings)
        case .settingsRequest(let request): expect(request.requestID)
        case .command(let command): compare(command)
        case .commandResult(let result):
            expect(result.outcome.rawValue)
            expect(result.requestID)
        case .collarMessage(let message):
            let outcome = compareStart(of: message.content)
            expect(outcome)
            expect(message.sequence)
            expectTime(of: message.content)
        case .hostMessage(let message):
            let outcome = compareStart(of: message.content)
            expect(outcome)
            expect(message.receiverID)
            expect(message.requestID)
            expectTime(of: message.content)
        case .radioIdentity(let identity):
            compare(identity.firmwareVersion)
            expect(identity.maximumFrameByteCount)
            expect(identity.radioID)
        case .modemSettings(let settings): compare(settings)
        case .signalReport(let report):
            expect(report.packetCRC)
            expect(report.signal.signalToNoiseTenthsDB.map { Int32($0) })
            expect(Int32(report.signal.strengthDBm))
        case .acknowledgement(let acknowledgement):
            if acknowledgement.company != .alone { expect(acknowledgement.company.rawValue) }
            compare(acknowledgement.durable)
            expect(acknowledgement.firstMissing)
            expect(acknowledgement.poll?.rawValue ?? 0 as UInt8)
            expect(acknowledgement.receiverID)
            compare(acknowledgement.resend)
        case .identityRequest(let request): expect(request.receiverID)
        }
    }

    private mutating func compare(_ fix: Fix) {
        expect(fix.altitudeSteps)
        expect(fix.altitudeStep.rawValue)
        expect(fix.batteryPercent)
        expect(fix.course?.steps)
        expect(fix.heading?.steps)
        expect(fix.horizontalAccuracy?.rawValue)
        expect(fix.latitudeSteps)
        expect(fix.longitudeSteps)
        expect(fix.positionStep.rawValue)
        expect(fix.sequence)
        expect(fix.source.rawValue)
        expect(fix.speedDecimetersPerSecond)
        expect(fix.unixMilliseconds)
        expect(fix.verticalAccuracy?.rawValue)
    }

    private mutating func compare(_ batch: Batch) {
        expect(length: batch.count)
        batch.forEach { compare($0) }
    }

    private mutating func compare(_ ranges: SequenceRangeList) {
        expect(length: ranges.count)
        for index in 0..<ranges.count {
            expect(2 as UInt32)
            expect(ranges[index].first)
            expect(ranges[index].last)
        }
    }

    private mutating func compare(_ version: FirmwareVersion) {
        expect(3 as UInt32)
        expect(version.major)
        expect(version.minor)
        expect(version.patch)
    }

    private mutating func compare(_ identity: Identity) {
        expect(identity.bootCount)
        // Capabilities that PROTOCOL.md does not name are left out.
        expect(identity.capabilities.rawValue & 0b1111)
        if identity.deliveredElsewhere != 0 { expect(identity.deliveredElsewhere) }
        expect(identity.log.deviceID.rawValue)
        compare(identity.firmwareVersion)
        expect(identity.heartbeatSeconds)
        expect(identity.maximumFrameByteCount)
        expect(identity.log.logID.rawValue)
        expect(identity.nextSequence)
        expect(identity.oldestSequence)
        expect(identity.pairedReceiverID)
    }

    private mutating func compare(_ status: Status) {
        expect(status.airtimeMilliseconds)
        expect(status.batteryPercent)
        if let clocks = status.clock {
            expect(clocks.unixMilliseconds)
            expect(clocks.uptimeMilliseconds)
        } else {
            expect(nil as Int64?)
        }
        expect(status.drops)
        expect(status.duplicates)
        expect(status.fixesSent)
        expect(status.gnssState.rawValue)
        expect(status.lastError.rawValue)
        expect(status.queueDepth)
        expect(status.isResting)
        expect(status.retransmissions)
        expect(status.trackingSinceUnixSeconds == 0 ? nil : status.trackingSinceUnixSeconds)
        expect(status.isStationary)
        expect(status.temperatureCelsius.map { Int32($0) })
        expect(status.throttleState.rawValue)
        expect(status.isTracking)
        expect(status.uptimeSeconds)
        expect(status.batteryMillivolts.map { Int32($0) })
    }

    private mutating func compare(_ report: PowerReport) {
        expect(report.awakeMilliseconds)
        expect(report.failures)
        expect(report.failuresInRow)
        expect(report.gnssSeconds)
        expect(report.listeningMilliseconds)
        expect(report.mode.rawValue)
        expect(report.searches)
        expect(report.secondsToSearch)
        expect(report.supply.rawValue)
        expect(report.timeToFixTenths.map { Int32($0) })
        expect(report.uptimeSeconds)
    }

    private mutating func compare(_ settings: Settings) {
        expect(length: settings.entries.count)
        for index in 0..<settings.entries.count {
            expect(2 as UInt32)
            expect(settings.entries[index].key)
            expect(settings.entries[index].value)
        }
        expect(settings.version.origin)
        expect(settings.requestID)
        expect(settings.version.number)
    }

    private mutating func compare(_ command: Command) {
        let (code, argument): (UInt32, UInt32?) =
            switch command.action {
            case .startTracking: (1, nil)
            case .stopTracking: (2, nil)
            case .locateNow: (3, nil)
            case .sound(let milliseconds): (4, UInt32(milliseconds))
            case .reboot: (5, nil)
            case .pair(let receiverID): (6, receiverID)
            case .unpair: (7, nil)
            case .find(let seconds): (8, UInt32(seconds))
            case .reportPower: (9, nil)
            }
        expect(code)
        expect(argument)
        expect(command.receiverID)
        expect(command.requestID)
    }

    /// Compares the fields of a message up to its kind.
    /// - Returns: the outcome of a reply; nil for other kinds.
    private mutating func compareStart(of message: ApplicationMessage) -> UInt8? {
        var (kind, answered, outcome) = (0 as UInt8, UInt32?.none, UInt8?.none)
        switch message.kind {
        case .notice: break
        case .request: kind = 1
        case .reply(let request, let result): (kind, answered, outcome) = (2, request, result.rawValue)
        }
        expect(answered)
        expect(message.code)
        let data = message.data
        expect(length: data.count)
        for index in data.indices { expect(data[index]) }
        expect(kind)
        return outcome
    }

    private mutating func expectTime(of message: ApplicationMessage) {
        expect(message.unixSeconds == 0 ? UInt32?.none : message.unixSeconds)
    }

    private mutating func compare(_ settings: ModemSettings) {
        switch settings.modulation {
        case .serial(let bitsPerSecond):
            expect(bitsPerSecond)
            expect(0 as UInt32)
        case .lora(let lora):
            expect(lora.bandwidthHertz)
            expect(lora.codingRateDenominator &- 5)
            expect(lora.hasCRC)
            expect(lora.hasExplicitHeader)
            expect(lora.frequencyHertz)
            expect(lora.optimizesLowDataRate)
            expect(1 as UInt32)
            expect(Int32(lora.powerDBm))
            expect(lora.preambleSymbols)
            expect(lora.spreadingFactor)
        }
        expect(settings.turnaroundMilliseconds)
    }
}

/// The fixes that a batch is expected to hold.
struct ExpectedFixes {
    private var table: Table
    private var left: Int64

    fileprivate init(_ table: Table) {
        self.table = table
        left = self.table.number() ?? 0
    }

    mutating func next() -> Fix? {
        guard left > 0 else { return nil }
        left &-= 1
        return table.fix()
    }
}
