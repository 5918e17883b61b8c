import CollarWire
import Testing

/// Statuses, settings, commands, application messages and frames of the base radio, encoded and decoded again.
@Suite struct ReportTests {
    private func end(_ type: MessageType, _ payload: Payload) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(sealed(type, payload: payload.bytes, log: .sample))
            return nil
        } catch {
            return error
        }
    }

    private func comesBack(_ message: Message) throws -> Bool {
        try decoded(frame(of: message, log: .sample)) == message
    }

    @Test func randomStatusesComeBack() throws {
        var random = SeededRandom(seed: 0x57)
        for _ in 0..<20_000 {
            var status = Status()
            status.isTracking = random.oneIn(2)
            status.isStationary = random.oneIn(2)
            status.isResting = random.oneIn(2)
            status.gnssState = Status.GNSSState(rawValue: UInt8(random.below(4))) ?? .off
            status.throttleState = Status.ThrottleState(rawValue: UInt8(random.below(4))) ?? .none
            status.trackingSinceUnixSeconds = random.anyLength()
            status.batteryPercent = random.oneIn(3) ? nil : random.edgy(in: 0...100, edges: [])
            status.batteryMillivolts = random.oneIn(3) ? nil : random.edgy(in: 0...8190, edges: [])
            status.temperatureCelsius = random.oneIn(3) ? nil : random.edgy(in: -127...127, edges: [0, -1])
            status.uptimeSeconds = random.anyLength()
            status.lastError = CollarFault(rawValue: random.byte())
            status.fixesSent = random.anyLength()
            status.queueDepth = random.edgy(in: 0...0xFF_FFFF, edges: [])
            status.drops = random.edgy(in: 0...0xFF_FFFF, edges: [])
            status.duplicates = random.edgy(in: 0...0xFF_FFFF, edges: [])
            status.retransmissions = random.edgy(in: 0...0xFF_FFFF, edges: [])
            status.airtimeMilliseconds = random.anyLength()
            if random.oneIn(2) {
                status.clock = Status.Clock(
                    unixMilliseconds: random.edgy(in: Fix.timeRange, edges: [0, -1]),
                    uptimeMilliseconds: random.edgy(in: 0...999, edges: []))
            }
            #expect(try comesBack(.status(status)))
        }
    }

    @Test func aStatusOutOfRangeIsNotWritten() {
        let changes: [((inout Status) -> Void, WireField)] = [
            ({ $0.batteryPercent = 101 }, .battery), ({ $0.batteryMillivolts = 8191 }, .voltage),
            ({ $0.temperatureCelsius = -128 }, .temperature), ({ $0.queueDepth = 1 &<< 24 }, .counter),
            ({ $0.drops = 1 &<< 24 }, .counter), ({ $0.duplicates = 1 &<< 24 }, .counter),
            ({ $0.retransmissions = .max }, .counter),
            ({ $0.clock?.unixMilliseconds = 0x8000_0000_0000 }, .time), ({ $0.clock?.uptimeMilliseconds = 1000 }, .uptime),
        ]
        for (change, field) in changes {
            var status = Status.sample
            change(&status)
            let error = #expect(throws: EncodeError.self) { try frame(of: .status(status), log: .sample) }
            guard case .field(field, _) = error else {
                Issue.record("\(String(describing: error)) for \(field)")
                continue
            }
        }
    }

    @Test func aStatusOf101To126PercentIsRefused() throws {
        var bytes = Array(try frame(of: .status(.sample), log: .sample).dropLast(3))
        for percent in 0...127 as ClosedRange<UInt8> {
            bytes[9] = percent &<< 1 | bytes[9] & 1
            let expected: DecodeError? =
                (101...126).contains(percent) ? .invalidField(.battery, code: UInt32(percent)) : nil
            let result = Result { () throws(DecodeError) in try decoded(sealed(bytes, log: .sample)) }
            if case .failure(let error) = result { #expect(error == expected) } else { #expect(expected == nil) }
        }
    }

    /// Whether the receiver is off until the next search is the last bit of the first byte, which no other state uses.
    @Test func aRestIsOneBitOfAStatus() throws {
        let awake = Array(try frame(of: .status(.sample), log: .sample).dropLast(3))
        var status = Status.sample
        status.isResting = true
        var resting = awake
        resting[4] |= 1
        #expect(awake[4] & 1 == 0)
        #expect(try frame(of: .status(status), log: .sample) == sealed(resting, log: .sample))
        #expect(try decoded(sealed(resting, log: .sample)) == .status(status))
    }

    @Test func settingsOfEveryCountComeBack() throws {
        var random = SeededRandom(seed: 0x5E7)
        for direction in [Settings.Direction.report, .update] {
            var entries = SettingList()
            for count in 0...6 {
                let settings = Settings(
                    direction: direction, requestID: UInt16(random.below(1 &<< 16)), version: SettingsVersion(rawValue: random.next()),
                    entries: entries)
                #expect(entries.count == count)
                #expect(try comesBack(.settings(settings)))
                entries.append(Setting(key: random.byte(), value: random.anyLength()))
            }
        }
    }

    @Test func moreThanSixEntriesAreRefused() throws {
        let start = Payload.Field.bits(0, 32)
        for type in [MessageType.settingsReport, .settingsUpdate] {
            for count in [7, 255] as [UInt32] {
                let payload = try Payload(start, start, .bits(0, 16), .bits(count, 8), start)
                #expect(end(type, payload) == .invalidField(.entryCount, code: count))
            }
        }
    }

    @Test(arguments: [
        Command.Action.startTracking, .stopTracking, .locateNow, .sound(milliseconds: 0), .sound(milliseconds: .max),
        .reboot, .pair(receiverID: 1), .pair(receiverID: .max), .unpair, .find(seconds: 0), .find(seconds: .max), .reportPower,
    ])
    func commandsComeBack(_ action: Command.Action) throws {
        #expect(try comesBack(.command(Command(requestID: .max, receiverID: 1, action: action))))
    }

    @Test func findHasItsSecondsAndAnAskedPowerReportHasNoArgument() throws {
        let find = try frame(of: .command(Command(requestID: 1, receiverID: 2, action: .find(seconds: 0x0E10))), log: .sample)
        #expect(find.dropLast(3).dropFirst(4) == [0, 1, 0, 0, 0, 2, 8, 0x0E, 0x10])
        let report = try frame(of: .command(Command(requestID: 1, receiverID: 2, action: .reportPower)), log: .sample)
        #expect(report.dropLast(3).dropFirst(4) == [0, 1, 0, 0, 0, 2, 9])
        #expect(end(.command, try Payload(.bits(1, 16), .bits(2, 32), .bits(9, 8), .bits(0, 8))) == .trailingBytes(byteOffset: 11))
        #expect(end(.command, try Payload(.bits(1, 16), .bits(2, 32), .bits(8, 8), .bits(0, 8))) == .truncated(bitOffset: 96))
    }

    @Test func receiverZeroNeitherCommandsNorIsPairedWith() throws {
        for (receiverID, action) in [(0, .reboot), (1, .pair(receiverID: 0))] as [(UInt32, Command.Action)] {
            let wrong = Command(requestID: 1, receiverID: receiverID, action: action)
            #expect(throws: EncodeError.field(.receiver, value: 0)) { try frame(of: .command(wrong), log: .sample) }
        }
        let open = try Payload(.bits(1, 16), .bits(0, 32), .bits(5, 8))
        #expect(end(.command, open) == .invalidField(.receiver, code: 0))
        let pairing = try Payload(.bits(1, 16), .bits(1, 32), .bits(6, 8), .bits(0, 32))
        #expect(end(.command, pairing) == .invalidField(.receiver, code: 0))
    }

    @Test func actionsAndOutcomesThatAreNotListedAreRefused() throws {
        for code in [0] + Array(10...255) as [UInt32] {
            let payload = try Payload(.bits(1, 16), .bits(1, 32), .bits(code, 8))
            #expect(end(.command, payload) == .invalidField(.command, code: code))
        }
        for code in 0...255 as ClosedRange<UInt32> {
            let payload = try Payload(.bits(1, 16), .bits(code, 8))
            #expect(end(.commandResult, payload) == (code <= 8 ? nil : .invalidField(.outcome, code: code)))
        }
    }

    @Test func applicationMessagesOfEveryKindAndLengthComeBack() throws {
        var random = SeededRandom(seed: 0xA9)
        let replies = (0...8).compactMap { CommandResult.Outcome(rawValue: $0) }.map {
            ApplicationMessage.Kind.reply(to: random.anyLength(), $0)
        }
        for count in 0...ApplicationMessage.dataLimit {
            for kind in [.notice, .request] + replies {
                let data = random.bytes(count)
                let made = ApplicationMessage(kind: kind, code: random.byte(), unixSeconds: random.anyLength(), data: data.span)
                let content = try #require(made)
                let head = [.notice, .request].contains(kind) ? 6 : 10
                let fromCollar = Message.collarMessage(
                    CollarMessage(sequence: random.edgy(in: 0...Fix.maximumSequence, edges: []), content: content))
                let uplink = try frame(of: fromCollar, log: .sample)
                #expect(uplink.count == 7 + 4 + head + count)
                #expect(try decoded(uplink) == fromCollar)
                let fromHost = Message.hostMessage(
                    HostMessage(requestID: UInt16(count), receiverID: 1 + UInt32(random.byte()), content: content))
                let downlink = try frame(of: fromHost, log: .sample)
                #expect(downlink.count == 7 + 6 + head + count)
                #expect(downlink.count <= 43)
                #expect(try decoded(downlink) == fromHost)
            }
        }
    }

    @Test func aMessageHasAtMostTwentyBytes() {
        let data = [UInt8](repeating: 1, count: 21)
        #expect(ApplicationMessage(kind: .notice, code: 0, unixSeconds: 0, data: data.span) == nil)
        #expect(ApplicationMessage(kind: .notice, code: 0, unixSeconds: 0, data: data.span.extracting(0..<20)) != nil)
    }

    @Test func messagesThatNobodyCanSendAreRefused() throws {
        let start = [Payload.Field](repeating: .bits(0, 32), count: 1)
        func collarMessage(_ fields: Payload.Field...) throws -> DecodeError? {
            let payload = try Payload(start + fields)
            return end(.collarMessage, payload)
        }
        #expect(try collarMessage(.bits(3, 2), .bits(0, 14), .bits(0, 32)) == .invalidField(.messageKind, code: 3))
        #expect(try collarMessage(.bits(2, 2), .bits(9, 6), .bits(0, 8), .bits(0, 32), .bits(0, 32)) == .invalidField(.outcome, code: 9))
        #expect(try collarMessage(.bits(1, 2), .bits(15, 6), .bits(0, 8), .bits(0, 32)) == nil)
        let long = [Payload.Field](repeating: .bits(1, 8), count: 21)
        let tooLong = try Payload(start + [.bits(0, 16), .bits(0, 32)] + long)
        #expect(end(.collarMessage, tooLong) == .invalidField(.messageLength, code: 21))
        let beyond = try Payload([.bits(.max, 32), .bits(0, 16), .bits(0, 32)])
        #expect(end(.collarMessage, beyond) == .invalidField(.sequence, code: .max))
        let nobody = try Payload([.bits(1, 16), .bits(0, 32), .bits(0, 16), .bits(0, 32)])
        #expect(end(.hostMessage, nobody) == .invalidField(.receiver, code: 0))
    }

    @Test func aMessageOutOfRangeIsNotWritten() throws {
        let none: [UInt8] = []
        let made = ApplicationMessage(kind: .notice, code: 0, unixSeconds: 0, data: none.span)
        let content = try #require(made)
        #expect(throws: EncodeError.field(.sequence, value: .max)) {
            try frame(of: .collarMessage(CollarMessage(sequence: .max, content: content)), log: .sample)
        }
        #expect(throws: EncodeError.field(.receiver, value: 0)) {
            try frame(of: .hostMessage(HostMessage(requestID: 1, receiverID: 0, content: content)), log: .sample)
        }
    }

    @Test func modemSettingsComeBackWithinTheirRanges() throws {
        for factor in 0...15 as ClosedRange<UInt8> {
            for rate in 4...9 as ClosedRange<UInt8> {
                var lora = LoRaSettings.sample
                lora.spreadingFactor = factor
                lora.codingRateDenominator = rate
                lora.powerDBm = .min
                let message = Message.modemSettings(
                    ModemSettings(modulation: .lora(lora), turnaroundMilliseconds: .max))
                if (5...12).contains(factor), (5...8).contains(rate) {
                    #expect(try comesBack(message))
                } else {
                    #expect(throws: EncodeError.self) { try frame(of: message, log: .sample) }
                }
            }
        }
        let serial = ModemSettings(modulation: .serial(bitsPerSecond: .max), turnaroundMilliseconds: 0)
        #expect(try comesBack(.modemSettings(serial)))
    }

    @Test func modulationsOutOfRangeAreRefused() throws {
        let turnaround = Payload.Field.bits(5, 16)
        for kind in 2...255 as ClosedRange<UInt32> {
            let payload = try Payload(.bits(kind, 8), turnaround, .bits(9600, 32))
            #expect(end(.modemSettings, payload) == .invalidField(.modulation, code: kind))
        }
        let stopped = try Payload(.bits(0, 8), turnaround, .bits(0, 32))
        #expect(end(.modemSettings, stopped) == .invalidField(.modulation, code: 0))
        let narrow = try Payload(.bits(1, 8), turnaround, .bits(1, 32), .bits(0, 32), .bits(0x9000, 16), .bits(0, 24))
        #expect(end(.modemSettings, narrow) == .invalidField(.modulation, code: 0))
        for factor in 0...15 as ClosedRange<UInt32> {
            let payload = try Payload(
                .bits(1, 8), turnaround, .bits(1, 32), .bits(1, 32), .bits(factor, 4), .bits(0, 12), .bits(0, 24))
            let isValid = (5...12).contains(factor)
            #expect(end(.modemSettings, payload) == (isValid ? nil : .invalidField(.modulation, code: factor)))
        }
    }

    @Test func signalReportsComeBack() throws {
        for noise in [nil, -32_767, -1, 0, 32_767] as [Int16?] {
            for strength in [.min, -117, 0, .max] as [Int16] {
                let report = SignalReport(packetCRC: 0xFF_FFFF, signal: RadioSignal(strengthDBm: strength, signalToNoiseTenthsDB: noise))
                #expect(try comesBack(.signalReport(report)))
            }
        }
        let wrong = SignalReport(packetCRC: 1 &<< 24, signal: RadioSignal(strengthDBm: 0, signalToNoiseTenthsDB: 0))
        #expect(throws: EncodeError.field(.packetCRC, value: 1 &<< 24)) {
            try frame(of: .signalReport(wrong), log: .sample)
        }
    }

    /// −32768 means "unknown" on the wire, so it cannot be sent as a value.
    @Test func theSignalToNoiseThatMeansUnknownIsNotWritten() {
        let wrong = SignalReport(packetCRC: 1, signal: RadioSignal(strengthDBm: 0, signalToNoiseTenthsDB: .min))
        #expect(throws: EncodeError.self) { try frame(of: .signalReport(wrong), log: .sample) }
    }

    @Test func aRadiosLargestFrameIsWithin51And253() throws {
        for limit in [0, 50, 51, 253, 254, 255] as [UInt8] {
            let identity = RadioIdentity(
                radioID: 7, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
                maximumFrameByteCount: limit)
            let payload = try Payload(.bits(0, 32), .bits(7, 32), .bits(0x010203, 24), .bits(UInt32(limit), 8))
            if (51...253).contains(limit) {
                #expect(try comesBack(.radioIdentity(identity)))
                #expect(end(.radioIdentity, payload) == nil)
            } else {
                #expect(throws: EncodeError.field(.frameLimit, value: UInt32(limit))) {
                    try frame(of: .radioIdentity(identity), log: .sample)
                }
                #expect(end(.radioIdentity, payload) == .invalidField(.frameLimit, code: UInt32(limit)))
            }
        }
    }
}

/// Frames with the right CRC and any payload. Decoding ends, and a message that is accepted can be encoded again.
@Suite struct AnyPayloadTests {
    @Test(arguments: (0..<32 as Range<UInt8>).compactMap(MessageType.init))
    func randomPayloads(_ type: MessageType) {
        var random = SeededRandom(seed: 0xA0 + UInt64(type.rawValue))
        for _ in 0..<10_000 {
            let payload = random.bytes(random.below(random.oneIn(20) ? 247 : 45))
            check(sealed(type, lowByte: UInt8(random.below(9)), payload: payload, log: .sample), &random)
        }
    }

    @Test(arguments: try Sample.all())
    func damagedPayloads(_ sample: Sample) {
        var random = SeededRandom(seed: 0xA1)
        for _ in 0..<20_000 {
            var bytes = Array(sample.bytes.dropLast(3))
            for _ in 0..<1 + random.below(3) { bytes.flip(bit: 24 + random.below(bytes.bitCount - 24)) }
            if random.oneIn(4) { bytes.removeLast(random.below(bytes.count - 3)) }
            if random.oneIn(4) { bytes += random.bytes(random.below(4)) }
            check(sealed(bytes, log: sample.log), &random)
        }
    }

    private func check(_ bytes: [UInt8], _ random: inout SeededRandom) {
        let reference = random.anyLength()
        guard let message = try? decoded(bytes, reference: reference) else { return }
        do {
            let written = try frame(of: message, flags: FrameFlags(poll: nil), log: .sample)
            let again = try decoded(written, reference: reference)
            if again != message, !again.begins(message) { Issue.record("\(message) was written as \(written) and read as \(again)") }
        } catch {
            Issue.record("\(message) was read and cannot be written or read again: \(error)")
        }
    }
}

extension Message {
    /// Whether this batch holds only the first fixes of `other`. A receiver accepts batches that a sender would encode in more
    /// bytes, so not all of their fixes may fit into a frame again.
    fileprivate func begins(_ other: Message) -> Bool {
        guard let fixes = batchedFixes, let others = other.batchedFixes, fixes.count < others.count else { return false }
        return others.starts(with: fixes)
    }
}

/// If its output is too small, an encoder writes nothing, and its error names the size that it needs.
@Suite struct EncoderRoomTests {
    /// Encodes a message into an output of `room` bytes. Returns the error, and the number of bytes written.
    private func attempt(_ message: Message, room: Int) -> (error: EncodeError?, written: Int) {
        var error: EncodeError?
        var written = 0
        _ = [UInt8](capacity: room) { output in
            do throws(EncodeError) {
                try message.encode(
                    address: 7, flags: FrameFlags(poll: nil), log: .sample, reference: 40_000, into: &output)
            } catch let thrown {
                error = thrown
            }
            written = output.count
        }
        return (error, written)
    }

    @Test(arguments: try Sample.all())
    func whatFitsFillsItsRoomExactly(_ sample: Sample) {
        for room in sample.bytes.count...300 {
            let result = attempt(sample.message, room: room)
            #expect(result.error == nil)
            #expect(result.written == sample.bytes.count)
        }
    }

    @Test(arguments: try Sample.all().filter { !$0.leavesSomethingOut })
    func whatDoesNotFitIsNotBegun(_ sample: Sample) {
        for room in 0..<sample.bytes.count {
            let result = attempt(sample.message, room: room)
            #expect(result.error == .frameTooSmall(neededByteCount: sample.bytes.count))
            #expect(result.written == 0)
        }
    }

    @Test(arguments: try Sample.all().filter(\.leavesSomethingOut))
    func whatLeavesSomethingOutSaysTheLeastItNeeds(_ sample: Sample) {
        let least = (0...sample.bytes.count).first { attempt(sample.message, room: $0).error == nil }
        let attempts = (0..<(least ?? 0)).map { attempt(sample.message, room: $0) }
        #expect(attempts.allSatisfy { $0.error == .frameTooSmall(neededByteCount: least ?? 0) })
        #expect(attempts.allSatisfy { $0.written == 0 })
        for room in (least ?? 0)...sample.bytes.count { #expect(attempt(sample.message, room: room).written <= room) }
    }

    @Test func everyFixNeedsWhatItSays() {
        var random = SeededRandom(seed: 0x700)
        for _ in 0..<5_000 {
            let fix = Fix(random: &random)
            let needed = FixSize.frameByteCount(fix, isWide: abs(Int64(fix.sequence) - 40_000) >= 32_768)
            let room = random.below(needed)
            #expect(attempt(.fix(fix), room: room).error == .frameTooSmall(neededByteCount: needed))
            #expect(attempt(.fix(fix), room: needed).written == needed)
        }
    }
}

extension Sample {
    fileprivate var leavesSomethingOut: Bool {
        switch message {
        case .acknowledgement, .tombstone, .batch: true
        default: false
        }
    }
}
