import CollarWire

struct EncodeStatistics {
    /// Fixes that were read, including those that wait for the rest of their batch.
    var fixes = 0
    var frames = 0
    /// Bytes of the fixes' bare frames: header, payload and CRC.
    var wireBytes = 0
    /// Bytes of the same frames with stuffing and delimiters.
    var serialBytes = 0

    var json: String { "{\"fixes\":\(fixes),\"frames\":\(frames),\"wire_bytes\":\(wireBytes),\"serial_bytes\":\(serialBytes)}" }
}

/// Turns fixes into frames, one after the other.
struct TrackEncoder {
    private(set) var statistics = EncodeStatistics()
    private let options: EncodeOptions
    private var output: [UInt8] = []
    private var highest: UInt32?
    /// The most recent fixes, at most `anchorLag` of them. When there are that many, the first is the anchor of the next fix.
    private var recent: [Fix] = []
    /// Fixes that wait for a batch, and the numbers of their lines.
    private var waiting: [(fix: Fix, lineNumber: Int)] = []

    init(options: EncodeOptions) { self.options = options }

    /// Writes a fix, or keeps it for a batch. Before the first fix it writes the identity.
    mutating func encode(_ fix: Fix, lineNumber: Int) throws(CommandFailure) {
        if highest == nil { try writeIdentity(firstSequence: fix.sequence) }
        let reference = highest ?? (fix.sequence == 0 ? 0 : fix.sequence - 1)
        statistics.fixes += 1
        switch options.mode {
        case .absolute:
            try write(lineNumber: lineNumber) { encoder throws(EncodeError) in
                try encoder.absoluteFrame(of: fix, reference: reference)
            }
        case .live(let anchorLag):
            let anchor = recent.count == anchorLag ? recent.first : nil
            try write(lineNumber: lineNumber) { encoder throws(EncodeError) in
                try encoder.shorterFrame(of: fix, anchor: anchor, reference: reference)
            }
            recent.append(fix)
            if recent.count > anchorLag { recent.removeFirst() }
        case .batch(let limit):
            waiting.append((fix, lineNumber))
            if waiting.count == limit { try writeBatch() }
        }
        highest = max(highest ?? 0, fix.sequence)
        if output.count > 32_768 { try handOver() }
    }

    /// Writes the waiting fixes, and then all output.
    mutating func finish() throws(CommandFailure) {
        while !waiting.isEmpty { try writeBatch() }
        try handOver()
    }

    private mutating func handOver() throws(CommandFailure) {
        try StandardOutput.write(output)
        output.removeAll(keepingCapacity: true)
    }

    private mutating func write(lineNumber: Int, _ frame: (TrackEncoder) throws(EncodeError) -> [UInt8]) throws(CommandFailure) {
        do throws(EncodeError) {
            let frame = try frame(self)
            statistics.frames += 1
            statistics.wireBytes += frame.count
            statistics.serialBytes += StreamEncoder.encodedByteCount(for: frame.count)
            append(frame)
        } catch { throw CommandFailure(.corruptInput, "The fix in line \(lineNumber) does not fit a frame: \(error).") }
    }

    /// Writes one batch, with as many of the waiting fixes as fit.
    private mutating func writeBatch() throws(CommandFailure) {
        let fixes = waiting
        var count = 0
        try write(lineNumber: fixes[0].lineNumber) { encoder throws(EncodeError) in
            try encoder.frame { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                var index = 0
                count = try Batch.encode(
                    fixes[0].fix, address: encoder.options.address, flags: FrameFlags(poll: nil),
                    log: encoder.options.log, into: &output
                ) {
                    index += 1
                    return index < fixes.count ? fixes[index].fix : nil
                }
            }
        }
        waiting.removeFirst(count)
    }

    private func absoluteFrame(of fix: Fix, reference: UInt32) throws(EncodeError) -> [UInt8] {
        try frame { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try AbsoluteFix.encode(
                fix, address: options.address, flags: FrameFlags(poll: nil), log: options.log, reference: reference,
                into: &output)
        }
    }

    /// The live frame if there is an anchor and the live frame is shorter; else the absolute frame.
    private func shorterFrame(of fix: Fix, anchor: Fix?, reference: UInt32) throws(EncodeError) -> [UInt8] {
        let absolute = try absoluteFrame(of: fix, reference: reference)
        guard let anchor, fix.sequence > anchor.sequence, fix.sequence - anchor.sequence <= LiveFix.maximumLead,
            fix.sequence >= reference
        else { return absolute }
        do throws(EncodeError) {
            let live = try frame { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try LiveFix.encode(
                    fix, anchor: anchor, address: options.address, flags: FrameFlags(poll: nil), log: options.log,
                    into: &output)
            }
            return live.count < absolute.count ? live : absolute
        } catch {
            // The fix differs so much from its anchor that the difference does not fit a frame.
            return absolute
        }
    }

    private mutating func writeIdentity(firstSequence: UInt32) throws(CommandFailure) {
        let identity = Identity(
            log: options.log, bootCount: 1, oldestSequence: firstSequence, nextSequence: firstSequence,
            pairedReceiverID: 0, maximumFrameByteCount: UInt8(options.maximumFrameByteCount),
            firmwareVersion: FirmwareVersion(major: 0, minor: 1, patch: 0), capabilities: Capabilities(rawValue: 0),
            heartbeatSeconds: 60)
        do throws(EncodeError) {
            append(
                try frame { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                    try identity.encode(address: options.address, flags: FrameFlags(poll: nil), into: &output)
                })
        } catch { throw CommandFailure(.software, "An identity does not fit the smallest frame: \(error).") }
    }

    private func frame(_ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) throws(EncodeError) -> [UInt8] {
        try [UInt8](capacity: options.maximumFrameByteCount, initializingWith: encode)
    }

    private mutating func append(_ frame: [UInt8]) {
        if options.isBare {
            output.append(UInt8(frame.count >> 8))
            output.append(UInt8(frame.count & 0xFF))
            output += frame
        } else {
            output.append(frame: frame)
        }
    }
}
