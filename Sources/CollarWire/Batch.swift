/// Up to 64 fixes of a log in one frame, decodable without any other: the first one as in an absolute fix, the others
/// as differences to those before them, in a code that learns on the way.
///
/// A value holds the payload of a frame that was decoded from end to end; ``forEach(_:)`` gives its fixes.
public struct Batch: Equatable, Sendable {
    /// The most fixes.
    public static var maximumCount: Int { 64 }
    /// Width of the number of fixes, less 1.
    static let countBitCount = 6

    private var payload = InlineArray<246, UInt8>(repeating: 0)
    private let payloadByteCount: Int
    private let lowSequenceByte: UInt8
    /// Number of fixes, 1 … 64.
    public let count: Int
    /// Bits of the payload that hold the first fix; the code of the others begins behind them.
    public let startBitCount: Int

    /// Decodes a frame whose header and check have been verified.
    /// - Throws: ``DecodeError`` where any of the fixes is invalid: then none of them may be used.
    public init(decoding frame: Span<UInt8>, header: FrameHeader) throws(DecodeError) {
        var decoder = try BatchDecoder(frame, header: header)
        count = decoder.count
        startBitCount = decoder.startBitCount
        while try decoder.next() != nil {}
        lowSequenceByte = header.lowByte
        payloadByteCount = frame.count - Frame.overheadByteCount
        for index in 0..<payloadByteCount { payload[index] = frame[FrameHeader.byteCount + index] }
    }

    /// Hands over the fixes, oldest first. They are decoded each time.
    public func forEach<Failure: Error>(_ body: (Fix) throws(Failure) -> Void) throws(Failure) {
        var reader: BatchDecoder
        do throws(DecodeError) { reader = try decoder() } catch { preconditionFailure("the start was decoded before") }
        while true {
            let fix: Fix?
            do throws(DecodeError) { fix = try reader.next() } catch {
                preconditionFailure("the fixes were decoded before")
            }
            guard let fix else { return }
            try body(fix)
        }
    }

    /// Same fixes, however they were coded.
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

    /// Appends a bare frame of as many fixes as the room of `output` takes, at least one.
    ///
    /// A batch ends behind 64 fixes, before a fix that does not fit, and before one that cannot stand in it: with other
    /// steps, a sequence that does not rise, or a field out of range.
    ///
    /// Complexity: linear. About 1.5 KB of stack; fixes are asked for one by one.
    /// - Parameters:
    ///   - first: the first fix.
    ///   - frameByteLimit: the largest frame to make, in bytes.
    ///   - next: gives the fix behind the last one it gave, or nil to end the batch. It is called once a fix; the last
    ///     one it gave may not be in the batch.
    /// - Returns: the number of fixes in the frame.
    /// - Throws: a field of the first fix out of range, or an output too small for it.
    public static func encode(
        _ first: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity,
        frameByteLimit: Int = Frame.maximumByteCount, into output: inout OutputSpan<UInt8>, next: () -> Fix?
    ) throws(EncodeError) -> Int {
        try first.validate()
        var coder = FixEncoder()
        let limit = min(frameByteLimit, Frame.maximumByteCount)
        let room = min(output.freeCapacity, limit) - Frame.overheadByteCount
        let count = code(first, room: room, into: &coder, next: next)
        let header = FrameHeader(
            type: .batch, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: first.sequence))
        try FrameEncoder.encode(header: header, payload: &coder.output.payload, check: log.boundCheck, into: &output)
        return count
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Codes as many fixes as fit a payload of `room` bytes, and the first even if it does not.
    private static func code(_ first: Fix, room: Int, into coder: inout FixEncoder, next: () -> Fix?) -> Int {
        var model = BatchModel(behind: FixCodes(of: first))
        coder.output.payload.write(0, countBitCount)
        AbsoluteFix.writeFields(of: model.last, isWide: nil, into: &coder.output.payload)
        coder.beginBatch()
        var mark = coder.output.mark
        var count = 1
        var given = model.last
        while count < maximumCount, advance(&given, next: next) {
            _ = model.code(given, &coder)
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

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Goes on to the next fix, unless it cannot stand behind this one in a batch.
    private static func advance(_ codes: inout FixCodes, next: () -> Fix?) -> Bool {
        guard let fix = next(), fix.sequence > codes.sequence, fix.positionStep.rawValue == codes.positionStep,
            fix.altitudeStep.rawValue == codes.altitudeStep
        else { return false }
        do throws(EncodeError) { try fix.validate() } catch { return false }
        codes = FixCodes(of: fix)
        return true
    }
}
