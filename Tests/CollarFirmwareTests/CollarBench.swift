import CollarARQ
import CollarFirmware
import CollarWire
import Testing

let deviceID: UInt64 = 0x0123_4567_89AB_CDEF

/// A collar, its flash, and a clock.
struct CollarBench {
    let shared: SharedFlash
    var collar: Collar<SharedFlash>
    var now = Instant(microseconds: 0)
    /// The poll that was sent last.
    var lastPoll: UInt8?

    init(
        flash: TestFlash = TestFlash(), randomLogID: UInt32 = logID, capabilities: Capabilities = .sounder,
        isPoweredOn: Bool = false, batchFrameByteLimit: Int? = nil, sendsLiveFixes: Bool = false, factoryKey: CollarKey? = nil
    ) throws {
        try self.init(
            shared: SharedFlash(flash), randomLogID: randomLogID, capabilities: capabilities, isPoweredOn: isPoweredOn,
            batchFrameByteLimit: batchFrameByteLimit, sendsLiveFixes: sendsLiveFixes, factoryKey: factoryKey)
    }

    /// Boots a collar from a flash that it shares with the test, so that the test still has the flash if the boot fails.
    init(
        shared: SharedFlash, randomLogID: UInt32 = logID, capabilities: Capabilities = .sounder,
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
