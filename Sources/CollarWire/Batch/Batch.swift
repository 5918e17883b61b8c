/// Up to 64 fixes of a log in one frame, decodable without any other frame. The first fix is coded as in an absolute fix, the
/// others as differences from earlier ones, with probabilities that adapt from fix to fix.
///
/// A value holds the payload of a frame that was decoded completely; ``forEach(_:)`` gives its fixes.
public struct Batch: Equatable, Sendable {
    /// The most fixes in a batch.
    public static var maximumCount: Int { 64 }
    /// Width in bits of the field that holds the number of fixes − 1.
    static let countBitCount = 6

    private var payload = InlineArray<246, UInt8>(repeating: 0)
    private let payloadByteCount: Int
    private let lowSequenceByte: UInt8
    /// Number of fixes, 1 … 64.
    public let count: Int
    /// Number of payload bits that hold the number of fixes and the first fix. The code of the other fixes follows these bits.
    public let startBitCount: Int

    /// Decodes a frame whose header and CRC have been verified.
    /// - Throws: ``DecodeError`` if any fix is invalid; then no fix of the frame may be used.
    public init(decoding frame: Span<UInt8>, header: FrameHeader) throws(DecodeError) {
        var decoder = try BatchDecoder(frame, header: header)
        count = decoder.count
        startBitCount = decoder.startBitCount
        while try decoder.next() != nil {}
        lowSequenceByte = header.lowByte
        payloadByteCount = frame.count - Frame.overheadByteCount
        for index in 0..<payloadByteCount { payload[index] = frame[FrameHeader.byteCount + index] }
    }

    /// Calls `body` with each fix, oldest first. Every call decodes the fixes again.
    public func forEach<Failure: Error>(_ body: (Fix) throws(Failure) -> Void) throws(Failure) {
        var reader: BatchDecoder
        do throws(DecodeError) { reader = try decoder() } catch { preconditionFailure("the start was decoded before") }
        while true {
            let fix: Fix?
            do throws(DecodeError) { fix = try reader.next() } catch { preconditionFailure("the fixes were decoded before") }
            guard let fix else { return }
            try body(fix)
        }
    }

    /// The fix at an index, where index 0 is the oldest fix; nil if the index is past the last fix.
    ///
    /// Complexity: linear in the index.
    public func fix(at index: Int) -> Fix? {
        guard index < count else { return nil }
        do throws(DecodeError) {
            var decoder = try decoder()
            for _ in 0..<index { _ = try decoder.next() }
            return try decoder.next()
        } catch { preconditionFailure("the fixes were decoded before") }
    }

    /// Whether both batches hold the same fixes, however they were coded.
    public static func == (left: Batch, right: Batch) -> Bool {
        guard left.count == right.count else { return false }
        do throws(DecodeError) {
            var leftDecoder = try left.decoder()
            var rightDecoder = try right.decoder()
            while let fix = try leftDecoder.next() {
                guard try rightDecoder.next() == fix else { return false }
            }
            return true
        } catch { return false }
    }

    @_lifetime(borrow self)
    private func decoder() throws(DecodeError) -> BatchDecoder {
        try BatchDecoder(payload.span, from: 0, to: payloadByteCount, lowSequenceByte: lowSequenceByte)
    }

    // If inlined, the coder's kilobyte would stay on the stack of the caller.
    @inline(never)
    /// Appends a bare frame of as many fixes as fit `output` and `frameByteLimit`, but at least one.
    ///
    /// A batch ends after 64 fixes, before a fix that does not fit, and before a fix that it cannot hold: one with another altitude
    /// step, with another position step and another source, with a sequence that does not rise, or with a field out of range.
    ///
    /// Complexity: linear. The call takes about 1.5 KB of stack; `next` gives one fix at a time.
    /// - Parameters:
    ///   - first: the first fix.
    ///   - address: the address of the collar, 1 … 254.
    ///   - flags: the flags of the header.
    ///   - log: the log of the fixes, to which the CRC is bound.
    ///   - frameByteLimit: the largest frame to make, in bytes.
    ///   - output: the frame is appended here.
    ///   - next: returns the next fix, or nil to end the batch. It is called once for each fix. The batch may end before the last
    ///     fix that `next` returned.
    /// - Returns: the number of fixes in the frame.
    /// - Throws: ``EncodeError`` if a field of the first fix is out of range or the output is too small for that fix.
    public static func encode(
        _ first: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity,
        frameByteLimit: Int = Frame.maximumByteCount, into output: inout OutputSpan<UInt8>, next: () -> Fix?
    ) throws(EncodeError) -> Int {
        try first.validate()
        var contexts = InlineArray<1, AdaptiveContexts>(repeating: AdaptiveContexts())
        var coder = FixEntropyEncoder(contexts.mutableSpan)
        let limit = min(frameByteLimit, Frame.maximumByteCount)
        let room = min(output.freeCapacity, limit) - Frame.overheadByteCount
        let count = code(first, room: room, into: &coder, next: next)
        try coder.output.payload.encode(
            as: .batch, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: first.sequence), crc: log.boundCRC,
            into: &output)
        return count
    }

    @inline(never)
    /// Codes as many fixes as fit a payload of `room` bytes. The first one is coded even if it does not fit.
    /// - Returns: the number of fixes coded.
    @_lifetime(coder: copy coder)
    private static func code(_ first: Fix, room: Int, into coder: inout FixEntropyEncoder, next: () -> Fix?) -> Int {
        var model = BatchModel(after: FixCodes(of: first))
        coder.output.payload.write(0, countBitCount)
        AbsoluteFix.writeFields(of: model.last, isWide: nil, into: &coder.output.payload)
        coder.beginBatch()
        var mark = coder.output.mark
        var count = 1
        var given = model.last
        while count < maximumCount, advance(&given, next: next) {
            model.code(given, &coder)
            guard coder.output.fits(byteCount: room) else {
                coder.output.goBack(to: mark)
                break
            }
            mark = coder.output.mark
            count += 1
        }
        coder.output.finish()
        coder.output.payload.replaceFirstSixBits(by: count - 1)
        return count
    }

    @inline(never)
    /// Replaces `codes` by those of the next fix.
    /// - Returns: false, with `codes` unchanged, if there is no next fix or if the batch cannot hold the next fix.
    private static func advance(_ codes: inout FixCodes, next: () -> Fix?) -> Bool {
        guard let fix = next(), fix.sequence > codes.sequence, fix.altitudeStep.rawValue == codes.altitudeStep,
            fix.positionStep.rawValue == codes.positionStep || fix.source.rawValue == codes.source
        else { return false }
        do throws(EncodeError) { try fix.validate() } catch { return false }
        codes = FixCodes(of: fix)
        return true
    }
}

/// Reads the fixes of a ``Batch`` one after the other. No fix may be used before all fixes of its frame were read.
public struct BatchDecoder: ~Copyable, ~Escapable {
    /// Number of fixes in the frame, 1 … 64.
    public let count: Int
    let startBitCount: Int
    private var readCount = 0
    private var model: BatchModel
    private var coder: AdaptiveDecoder

    /// Begins to read a frame whose header and CRC have been verified.
    /// - Throws: ``DecodeError`` if the first fix is invalid.
    @_lifetime(copy frame)
    public init(_ frame: Span<UInt8>, header: FrameHeader) throws(DecodeError) {
        try self.init(frame, from: FrameHeader.byteCount, to: frame.count - CRC24.byteCount, lowSequenceByte: header.lowByte)
    }

    /// Begins to read a payload.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, from start: Int, to end: Int, lowSequenceByte: UInt8) throws(DecodeError) {
        var reader = BitReader(bytes, from: start, to: end)
        let count = Int(reader.read(Batch.countBitCount)) + 1
        let first = AbsoluteFix.readFields(from: &reader, lowSequenceByte: lowSequenceByte, reference: nil)
        try reader.checkNotPastEnd()
        self.count = count
        startBitCount = reader.bitPosition - 8 * start
        model = BatchModel(after: first)
        coder = AdaptiveDecoder(bytes, fromBit: reader.bitPosition, to: end)
    }

    /// The next fix, or nil after the last one.
    /// - Throws: ``DecodeError/invalidField(_:code:)``; after that the decoder must not be used.
    @_lifetime(self: copy self)
    public mutating func next() throws(DecodeError) -> Fix? {
        guard readCount < count else { return nil }
        if readCount > 0 {
            model.code(model.last, &coder)
            if let field = coder.invalidField { throw .invalidField(field, code: UInt32(truncatingIfNeeded: readCount)) }
        }
        readCount += 1
        return model.last.fix
    }
}
