import CollarWire

/// A collar for load tests. It makes fixes without end, and keeps none.
struct LoadCollar {
    let log: LogIdentity
    let address: UInt8
    /// The next fix to send.
    var nextSequence: UInt32 = 0
    /// Every fix below this one was acknowledged.
    var acknowledgedCount: UInt32 = 0
    private var askCount: UInt8 = 0

    init(number: Int) {
        log = LogIdentity(
            deviceID: DeviceID(rawValue: 0xC0FF_EE00_0000_0000 + UInt64(number)), logID: LogID(lowBitsOf: UInt32(1000 + number)))
        address = UInt8(1 + number)
    }

    /// The fix of a sequence: a walk, one fix in 100 ms, with every field but the heading known.
    static func fix(_ sequence: UInt32) -> Fix {
        let step = Int32(sequence % 10_000)
        var fix = Fix(
            sequence: sequence, unixMilliseconds: 1_700_000_000_000 + Int64(sequence) * 100,
            latitudeSteps: 4_800_000 + 3 * step, longitudeSteps: -12_200_000 - 2 * step, altitudeSteps: 120 + step % 30,
            horizontalAccuracy: AccuracyCode(rawValue: UInt8(40 + step % 9)), speedDecimetersPerSecond: UInt32(10 + step % 7),
            batteryPercent: UInt8(90 - step / 200))
        fix.verticalAccuracy = AccuracyCode(rawValue: 55)
        fix.course = AngleCode(steps: UInt8(step % 180))
        return fix
    }

    mutating func nextPoll() -> PollNumber? {
        askCount = askCount % 7 + 1
        return PollNumber(rawValue: askCount)
    }

    /// Appends the identity of a log that holds everything from 0 on.
    func appendIdentity(to stream: inout [UInt8]) throws(EncodeError) {
        let identity = Identity(
            log: log, bootCount: 1, oldestSequence: 0, nextSequence: nextSequence, pairedReceiverID: 0,
            maximumFrameByteCount: 253, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            capabilities: Capabilities(rawValue: 0), heartbeatSeconds: 3600)
        try append(to: &stream) { (frame: inout OutputSpan<UInt8>) throws(EncodeError) in
            try identity.encode(address: address, flags: FrameFlags(poll: nil), into: &frame)
        }
    }

    /// Appends the next fixes, one per frame. The last frame polls.
    mutating func appendFixes(_ count: Int, to stream: inout [UInt8]) throws(EncodeError) {
        for index in 0..<count {
            let flags = FrameFlags(poll: index == count - 1 ? nextPoll() : nil)
            let fix = LoadCollar.fix(nextSequence)
            try append(to: &stream) { (frame: inout OutputSpan<UInt8>) throws(EncodeError) in
                try AbsoluteFix.encode(
                    fix, address: address, flags: flags, log: log, reference: nextSequence, into: &frame)
            }
            nextSequence += 1
        }
    }

    /// Appends the next fixes, as many per frame as fit. A frame polls if at most 20 fixes are left when it begins.
    mutating func appendBatches(_ count: Int, to stream: inout [UInt8]) throws(EncodeError) {
        let end = nextSequence + UInt32(count)
        while nextSequence < end {
            let flags = FrameFlags(poll: end - nextSequence <= UInt32(Batch.maximumCount) ? nextPoll() : nil)
            var following = nextSequence
            var taken = 0
            try append(to: &stream) { (frame: inout OutputSpan<UInt8>) throws(EncodeError) in
                taken = try Batch.encode(
                    LoadCollar.fix(nextSequence), address: address, flags: flags, log: log, into: &frame
                ) {
                    following += 1
                    return following < end ? LoadCollar.fix(following) : nil
                }
            }
            nextSequence += UInt32(taken)
        }
    }

    /// Appends a probe that polls.
    mutating func appendProbe(to stream: inout [UInt8]) throws(EncodeError) {
        let probe = Probe(logTag: log.tag, nextSequence: nextSequence)
        let flags = FrameFlags(poll: nextPoll())
        try append(to: &stream) { (frame: inout OutputSpan<UInt8>) throws(EncodeError) in
            try probe.encode(address: address, flags: flags, into: &frame)
        }
    }

    /// Takes an acknowledgement of the host, if it is for this collar.
    mutating func receive(_ frame: Span<UInt8>) {
        do throws(DecodeError) {
            let header = try FrameHeader(frame)
            guard header.type == .acknowledgement, header.address == address, FrameCRC.isValid(frame, log: log) else {
                return
            }
            acknowledgedCount = max(acknowledgedCount, try Acknowledgement(decoding: frame, header: header).firstMissing)
        } catch {}
    }

    private func append(
        to stream: inout [UInt8], _ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void
    ) throws(EncodeError) {
        let frame = try InlineFrame(encode)
        stream.append(addingCapacity: StreamEncoder.encodedByteCount(for: Frame.maximumByteCount)) { output in
            StreamEncoder.encode(frame.bytes.span.extracting(0..<frame.count), into: &output)
        }
    }
}

/// A bare frame without an allocation.
private struct InlineFrame {
    var bytes = InlineArray<253, UInt8>(repeating: 0)
    var count = 0

    init(_ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) throws(EncodeError) {
        var failure: EncodeError?
        withUnsafeMutableBytes(of: &bytes) { memory in
            let buffer = memory.bindMemory(to: UInt8.self)
            var output = OutputSpan(buffer: buffer, initializedCount: 0)
            do throws(EncodeError) { try encode(&output) } catch { failure = error }
            count = output.finalize(for: buffer)
        }
        if let failure { throw failure }
    }
}
