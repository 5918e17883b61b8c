import CollarARQ
import CollarFirmware
import CollarWire
import Testing

let deviceID: DeviceID = 0x0123_4567_89AB_CDEF

/// A collar, its flash, and a clock.
struct CollarBench {
    let shared: SharedFlash
    var collar: Collar<SharedFlash>
    var now = Instant(microseconds: 0)
    /// The poll that was sent last.
    var lastPoll: UInt8?

    init(
        flash: TestFlash = TestFlash(), randomLogID: UInt32 = logID.rawValue, capabilities: Capabilities = .sounder,
        isPoweredOn: Bool = false, batchFrameByteLimit: Int? = nil, sendsLiveFixes: Bool = false, factoryKey: CollarKey? = nil
    ) throws {
        try self.init(
            shared: SharedFlash(flash), randomLogID: randomLogID, capabilities: capabilities, isPoweredOn: isPoweredOn,
            batchFrameByteLimit: batchFrameByteLimit, sendsLiveFixes: sendsLiveFixes, factoryKey: factoryKey)
    }

    /// Boots a collar from a flash that it shares with the test, so that the test still has the flash if the boot fails.
    init(
        shared: SharedFlash, randomLogID: UInt32 = logID.rawValue, capabilities: Capabilities = .sounder,
        isPoweredOn: Bool = false, batchFrameByteLimit: Int? = nil, sendsLiveFixes: Bool = false, factoryKey: CollarKey? = nil
    ) throws {
        self.shared = shared
        let modem = ModemProfile(
            nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 9000, turnaroundMicroseconds: 40_000)
        let configuration = Collar<SharedFlash>.Configuration(
            deviceID: deviceID, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
            capabilities: capabilities,
            delivery: CollarDelivery.Configuration(
                modem: modem, sendsLiveFixes: sendsLiveFixes, batchFrameByteLimit: batchFrameByteLimit),
            factoryKey: factoryKey, isPoweredOn: isPoweredOn)
        collar = try Collar(booting: configuration, flash: shared, randomLogID: randomLogID, now: now)
    }

    /// The collar after a power cut at this moment and a reboot.
    func rebooted(randomLogID: UInt32 = 1) throws -> CollarBench {
        try CollarBench(flash: shared.flash.withPower, randomLogID: randomLogID)
    }

    /// The bytes of the next frame; nil if no frame is due. Sending the frame takes no time.
    mutating func nextFrame() throws -> [UInt8]? {
        var isFrame = false
        let bytes = try [UInt8](capacity: Frame.maximumByteCount) { output in
            isFrame = try collar.nextFrame(now: now, into: &output)
        }
        guard isFrame else { return nil }
        collar.frameSent(now: now)
        return bytes
    }

    /// Sends all frames that are due now.
    mutating func sendAll() throws -> [(message: Message, poll: UInt8?)] {
        var sent: [(message: Message, poll: UInt8?)] = []
        while let frame = try nextFrame() {
            let header = try FrameHeader(frame.span)
            #expect(header.address == 9)
            let reference = collar.nextSequence == 0 ? 0 : collar.nextSequence - 1
            let message = try Message.decode(frame.span, log: collar.log, reference: reference)
            sent.append((message, header.flags.poll?.rawValue))
            lastPoll = header.flags.poll?.rawValue ?? lastPoll
        }
        return sent
    }

    mutating func receive(_ frame: [UInt8]) throws -> Collar<SharedFlash>.Reception {
        try collar.receive(frame.span, now: now)
    }

    mutating func acknowledge(
        _ firstMissing: UInt32, poll: UInt8?, receiver: UInt32 = 77, durable: [SequenceRange] = [],
        resend: [SequenceRange] = []
    ) throws -> Collar<SharedFlash>.Reception {
        var answer = Acknowledgement(
            receiverID: receiver, poll: poll.flatMap { PollNumber(rawValue: $0) }, firstMissing: firstMissing)
        for range in durable { answer.durable.append(range) }
        for range in resend { answer.resend.append(range) }
        let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
            try answer.encode(address: 9, log: collar.log, into: &output)
        }
        return try receive(frame)
    }

    mutating func log(_ numbers: Range<UInt32>) throws {
        for number in numbers { #expect(try collar.log(fix(number)) == number) }
    }

    /// Cuts the power while a fix is logged, which tears the slot of the fix.
    mutating func logTorn(_ number: UInt32) {
        shared.flash.stepsLeft = 5
        #expect(throws: FixLogError.self) { try collar.log(fix(number)) }
    }
}

func tombstone(_ first: UInt32, _ last: UInt32) -> Message {
    var ranges = SequenceRangeList()
    if let range = SequenceRange(first, last) { ranges.append(range) }
    return .tombstone(Tombstone(ranges: ranges))
}

typealias Reception = Collar<SharedFlash>.Reception

extension CollarBench {
    /// A collar that is paired with receiver 77, which has acknowledged every fix.
    static func paired(
        fixes: UInt32 = 3, flash: TestFlash = TestFlash(), capabilities: Capabilities = .sounder,
        sendsLiveFixes: Bool = false
    ) throws -> CollarBench {
        var bench = try CollarBench(flash: flash, capabilities: capabilities, sendsLiveFixes: sendsLiveFixes)
        try bench.log(0..<fixes)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(fixes, poll: 1) == .acknowledgement(.answer))
        return bench
    }

    mutating func command(
        _ requestID: UInt16, _ action: Command.Action, by receiver: UInt32 = 77
    ) throws -> Reception {
        let command = Command(requestID: requestID, receiverID: receiver, action: action)
        let log = collar.log
        return try receive([UInt8](capacity: 253) { output in try command.encode(address: 9, log: log, into: &output) })
    }

    mutating func update(_ requestID: UInt16, version: UInt64, _ settings: KeyValuePairs<UInt8, UInt32>) throws -> Reception {
        var entries = SettingList()
        for (key, value) in settings { entries.append(Setting(key: key, value: value)) }
        let update = Settings(
            direction: .update, requestID: requestID, version: SettingsVersion(rawValue: version), entries: entries)
        let log = collar.log
        return try receive(
            [UInt8](capacity: 253) { output in
                try update.encode(address: 9, flags: FrameFlags(poll: nil), log: log, into: &output)
            })
    }

    mutating func askForSettings(_ requestID: UInt16) throws -> Reception {
        let log = collar.log
        return try receive(
            [UInt8](capacity: 253) { output in
                try SettingsRequest(requestID: requestID).encode(address: 9, log: log, into: &output)
            })
    }

    mutating func askForIdentity() throws -> Reception {
        try receive(
            [UInt8](capacity: 253) { output in try IdentityRequest(receiverID: 77).encode(address: 9, into: &output) })
    }

    /// Answers the last poll with an acknowledgement of every fix, and lets the collar send the frames that are due then.
    /// - Returns: the messages in these frames.
    mutating func answered(by receiver: UInt32 = 77) throws -> [Message] {
        #expect(try acknowledge(collar.nextSequence, poll: lastPoll, receiver: receiver) == .acknowledgement(.answer))
        return try sendAll().map(\.message)
    }
}

func result(_ requestID: UInt16, _ outcome: CommandResult.Outcome) -> Message {
    .commandResult(CommandResult(requestID: requestID, outcome: outcome))
}

/// The settings in the reports with this request id and version, by key.
func reported(_ messages: [Message], _ requestID: UInt16, version: UInt64) -> [UInt8: UInt32] {
    var settings: [UInt8: UInt32] = [:]
    for case .settings(let report) in messages
    where report.direction == .report && report.requestID == requestID && report.version.rawValue == version {
        for index in 0..<report.entries.count { settings[report.entries[index].key] = report.entries[index].value }
    }
    return settings
}

let defaultSettings: [UInt8: UInt32] = [
    1: 500, 2: 1000, 3: 2000, 4: 5000, 5: 500, 6: 500, 7: 30, 8: 60, 9: 5, 10: 0, 11: 500, 12: 5000, 13: 0, 14: 0, 15: 0,
    16: 0, 17: 0, 18: 60, 19: 2000, 20: 0, 21: 0, 22: 3600, 23: 10,
]

/// A key that begins with a byte.
func key(_ byte: UInt8) -> CollarKey {
    let bytes = (0..<CollarKey.byteCount).map { byte ^ UInt8($0 * 17) }
    return CollarKey(bytes.span)
}

extension CollarBench {
    /// A collar that was made with key(1) and has made three fixes.
    static func keyed(isPoweredOn: Bool = false) throws -> CollarBench {
        var bench = try CollarBench(isPoweredOn: isPoweredOn, factoryKey: key(1))
        try bench.log(0..<3)
        return bench
    }

    /// Gives the collar a key request.
    mutating func requestKey(proving present: CollarKey?, drawing new: CollarKey) throws -> Collar<SharedFlash>.CableReception {
        let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
            try CableFrame.encodeRequest(
                proof: present.map { .ofPresentKey($0, deviceID: deviceID) }, into: &output)
        }
        return try collar.receiveFromCable(frame.span, randomKey: new, now: now)
    }

    /// Gives the collar a key activation.
    mutating func activate(_ new: CollarKey) throws -> Collar<SharedFlash>.CableReception {
        let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
            try CableFrame.encodeActivation(proof: .ofNewKey(new, deviceID: deviceID), into: &output)
        }
        return try collar.receiveFromCable(frame.span, randomKey: key(0xEE), now: now)
    }

    /// The next frame on the cable; nil if there is none.
    mutating func nextCableFrame() throws -> [UInt8]? {
        var isFrame = false
        let bytes = try [UInt8](capacity: Frame.maximumByteCount) { output in
            isFrame = try collar.nextCableFrame(into: &output)
        }
        return isFrame ? bytes : nil
    }

    /// The clear form of a frame that is sealed like an identity; nil if it does not open with the key.
    func opened(_ frame: [UInt8], with key: CollarKey) throws -> [UInt8]? {
        let header = try FrameHeader(ofAny: frame.span)
        var number: FrameNumber?
        let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
            number = SealedFrame.openIdentity(
                frame.span, header: header, deviceID: deviceID, keys: SealingKeys(key, deviceID: deviceID), into: &output)
        }
        return number == nil ? nil : clear
    }

    /// The key with which the first frame after a boot is sealed: one of the given ones; nil if the collar sends nothing.
    mutating func keyInForce(of keys: [CollarKey]) throws -> CollarKey? {
        guard let frame = try nextFrame() else { return nil }
        for key in keys where try opened(frame, with: key) != nil { return key }
        throw UnknownKey()
    }

    /// A frame of the collar is in clear, or sealed with none of the known keys.
    struct UnknownKey: Error {}

    /// How often the bytes of a key are in the flash.
    func copies(of key: CollarKey) -> Int {
        let wanted = (0..<CollarKey.byteCount).map { key.bytes[$0] }
        let contents = shared.flash.contents
        return (0...(contents.count - wanted.count)).count { contents[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
