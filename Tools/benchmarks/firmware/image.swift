import CollarWire
// Uses all parts of the codec that a collar needs for the frames that it sends and receives. The linker leaves out all other
// parts of the codec. Values come from outside; otherwise the optimizer would compute the frames at build time. sealed.swift
// or clear.swift is compiled with this file.

@_silgen_name("input_word")
func inputWord() -> UInt32

@_silgen_name("output_byte")
func outputByte(_ byte: UInt8)

@_silgen_name("frame_buffer")
func frameBuffer() -> UnsafeMutablePointer<UInt8>

@_silgen_name("serial_buffer")
func serialBuffer() -> UnsafeMutablePointer<UInt8>

/// The decoder of the only radio, with room for one incoming frame.
nonisolated(unsafe) private var stream = StreamDecoder()

@c(use_codec)
public func useCodec() {
    let deviceID = DeviceID(rawValue: UInt64(widening: inputWord()) &<< 32 | UInt64(widening: inputWord()))
    let log = LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: inputWord()))
    let link = Link(log: log, protection: Protection(deviceID: deviceID))
    sendFixes(link)
    sendBatch(link)
    sendReports(link)
    receive(link)
}

struct Link {
    let log: LogIdentity
    let protection: Protection
}

/// Protects a frame and writes it with its delimiters; a radio packet would be the frame alone.
@inline(never)
func send(
    _ link: Link, _ binding: SealedBinding = .none, _ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void
) {
    var frame = OutputSpan(
        buffer: UnsafeMutableBufferPointer(start: frameBuffer(), count: Frame.maximumByteCount), initializedCount: 0)
    do throws(EncodeError) { try encode(&frame) } catch { return }
    link.protection.seal(&frame, binding, log: link.log)
    var serial = OutputSpan(
        buffer: UnsafeMutableBufferPointer(start: serialBuffer(), count: Frame.maximumByteCount + 3),
        initializedCount: 0)
    StreamEncoder.encode(frame.span, into: &serial)
    for index in serial.indices { outputByte(serial[index]) }
}

func inputFix() -> Fix {
    var fix = Fix(
        sequence: inputWord(), unixMilliseconds: Int64(widening: inputWord()) &* 1000,
        latitudeSteps: Int32(bitPattern: inputWord()), longitudeSteps: Int32(bitPattern: inputWord()))
    let known = inputWord()
    if known & 1 != 0 { fix.altitudeSteps = Int32(bitPattern: inputWord()) }
    if known & 2 != 0 { fix.horizontalAccuracy = AccuracyCode(nearestToMillimeters: inputWord()) }
    if known & 4 != 0 { fix.verticalAccuracy = AccuracyCode(nearestToMillimeters: inputWord()) }
    if known & 8 != 0 { fix.speedDecimetersPerSecond = inputWord() }
    if known & 16 != 0 { fix.course = AngleCode(steps: UInt8(truncatingIfNeeded: inputWord())) }
    if known & 32 != 0 { fix.heading = AngleCode(steps: UInt8(truncatingIfNeeded: inputWord())) }
    if known & 64 != 0 { fix.batteryPercent = UInt8(truncatingIfNeeded: inputWord() & 63) }
    return fix
}

@inline(never)
func sendFixes(_ link: Link) {
    let log = link.log
    let anchor = inputFix()
    let fix = inputFix()
    let reference = inputWord()
    send(link, .sequence(fix.sequence)) { (output) throws(EncodeError) in
        try AbsoluteFix.encode(
            fix, address: 1, flags: FrameFlags(poll: nil), log: log, reference: reference, into: &output)
    }
    send(link, .anchor(anchor)) { (output) throws(EncodeError) in
        try LiveFix.encode(
            fix, anchor: anchor, address: 1, flags: FrameFlags(poll: .first), log: log, into: &output)
    }
}

@inline(never)
func sendBatch(_ link: Link) {
    let log = link.log
    let first = inputFix()
    send(link) { (output) throws(EncodeError) in
        _ = try Batch.encode(first, address: 1, flags: FrameFlags(poll: .first), log: log, into: &output) {
            inputWord() > 900 ? nil : inputFix()
        }
    }
}

@inline(never)
func sendReports(_ link: Link) {
    let log = link.log
    let flags = FrameFlags(poll: .first)
    let identity = Identity(
        log: log, bootCount: inputWord(), oldestSequence: inputWord(), nextSequence: inputWord(),
        pairedReceiverID: inputWord(), maximumFrameByteCount: 253,
        firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
        capabilities: Capabilities(rawValue: UInt16(truncatingIfNeeded: inputWord())), heartbeatSeconds: 60)
    send(link) { (output) throws(EncodeError) in try identity.encode(address: 1, flags: flags, into: &output) }
    let probe = Probe(logTag: log.tag, nextSequence: inputWord())
    send(link) { (output) throws(EncodeError) in try probe.encode(address: 1, flags: flags, into: &output) }
    var ranges = SequenceRangeList()
    if let range = SequenceRange(inputWord(), inputWord()) { ranges.append(range) }
    let tombstone = Tombstone(ranges: ranges)
    send(link) { (output) throws(EncodeError) in try tombstone.encode(address: 1, flags: flags, log: log, into: &output) }
    var status = Status()
    status.queueDepth = inputWord()
    status.batteryPercent = UInt8(truncatingIfNeeded: inputWord())
    send(link) { (output) throws(EncodeError) in try status.encode(address: 1, flags: flags, log: log, into: &output) }
    var entries = SettingList()
    entries.append(Setting(key: 1, value: inputWord()))
    let settings = Settings(direction: .report, requestID: 1, version: SettingsVersion(rawValue: UInt64(widening: inputWord())), entries: entries)
    send(link) { (output) throws(EncodeError) in try settings.encode(address: 1, flags: flags, log: log, into: &output) }
    let result = CommandResult(requestID: UInt16(truncatingIfNeeded: inputWord()), outcome: .ok)
    send(link) { (output) throws(EncodeError) in try result.encode(address: 1, flags: flags, log: log, into: &output) }
    let data: InlineArray<4, UInt8> = .init { _ in UInt8(truncatingIfNeeded: inputWord()) }
    let kind: ApplicationMessage.Kind = inputWord() == 0 ? .request : .reply(to: inputWord(), .ok)
    let content = ApplicationMessage(kind: kind, code: 1, unixSeconds: inputWord(), data: data.span)
    if let content {
        let message = CollarMessage(sequence: inputWord(), content: content)
        send(link) { (output) throws(EncodeError) in try message.encode(address: 1, flags: flags, log: log, into: &output) }
    }
}

/// Reads a serial line until no more bytes come.
@inline(never)
func receive(_ link: Link) {
    while case let word = inputWord(), word != 0xFFFF_FFFF {
        let chunk: InlineArray<1, UInt8> = [UInt8(truncatingIfNeeded: word)]
        var index = 0
        while let event = stream.next(in: chunk.span, at: &index) {
            if event == .frame { take(stream.frame, link) }
        }
    }
}

/// Opens and decodes a frame of a host.
@inline(never)
func take(_ sealed: Span<UInt8>, _ link: Link) {
    var storage = OutputSpan(
        buffer: UnsafeMutableBufferPointer(start: serialBuffer(), count: Frame.maximumByteCount), initializedCount: 0)
    do throws(DecodeError) {
        var header = try FrameHeader(ofAny: sealed)
        guard let type = header.type, !type.isFromCollar else { return }
        if header.flags.isSealed {
            guard link.protection.open(sealed, header: header, type: type, log: link.log, into: &storage) else { return }
        } else {
            for index in sealed.indices { storage.append(sealed[index]) }
        }
        let frame = storage.span
        header = try FrameHeader(frame)
        guard FrameCRC.isValid(frame, log: type.isBoundToLog ? link.log : nil) else { return }
        switch type {
        case .acknowledgement:
            let acknowledgement = try Acknowledgement(decoding: frame, header: header)
            outputByte(UInt8(truncatingIfNeeded: acknowledgement.firstMissing))
            for index in 0..<acknowledgement.durable.count {
                outputByte(UInt8(truncatingIfNeeded: acknowledgement.durable[index].last))
            }
        case .identityRequest:
            outputByte(UInt8(truncatingIfNeeded: try IdentityRequest(decoding: frame).receiverID))
        case .settingsRequest:
            outputByte(UInt8(truncatingIfNeeded: try SettingsRequest(decoding: frame).requestID))
        case .settingsUpdate:
            let settings = try Settings(decoding: frame, direction: .update)
            for index in 0..<settings.entries.count {
                outputByte(UInt8(truncatingIfNeeded: settings.entries[index].value))
            }
        case .command:
            let command = try Command(decoding: frame)
            outputByte(UInt8(truncatingIfNeeded: command.requestID))
        case .hostMessage:
            let message = try HostMessage(decoding: frame)
            outputByte(message.content.code)
        default: break
        }
    } catch { outputByte(0) }
}
