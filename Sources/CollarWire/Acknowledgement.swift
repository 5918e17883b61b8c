/// What a receiver holds durably of a collar's log. What is not named here is not acknowledged.
///
/// The log itself is not named: the check is bound to device id and log id.
///
/// Payload: receiver id (32 bits), first missing sequence (32), number of durable ranges (6), number of ranges to
/// resend (6), then in Elias gamma codes
/// - the durable ranges, newest first: for the first the distance from the first missing sequence up to its last
///   sequence, for each further one the number of missing sequences between it and the one before; each followed
///   by the number of sequences in it;
/// - the ranges to resend, oldest first: the first sequence of the first as 32 bits, for each further one the number
///   of sequences between it and the one before; each followed by the number of sequences in it.
public struct Acknowledgement: Equatable, Sendable {
    /// The receiver that acknowledges; never 0.
    public var receiverID: UInt32
    /// The ask that this answers.
    public var ask: AskNumber?
    /// Every sequence below this one is stored, or known to be lost for ever.
    public var firstMissing: UInt32
    /// Durable ranges above ``firstMissing``, newest first, apart from one another.
    public var durable: SequenceRangeList
    /// Ranges the collar shall send again although they were acknowledged once, oldest first, apart.
    public var resend: SequenceRangeList

    /// Creates an acknowledgement.
    public init(
        receiverID: UInt32, ask: AskNumber?, firstMissing: UInt32, durable: SequenceRangeList = .init(),
        resend: SequenceRangeList = .init()
    ) {
        self.receiverID = receiverID
        self.ask = ask
        self.firstMissing = firstMissing
        self.durable = durable
        self.resend = resend
    }

    /// Appends the bare frame. Ranges that do not fit the output are left out: those to resend the newest first, but never
    /// the oldest, then durable ones the oldest first.
    /// - Throws: ``EncodeError/field(_:value:)`` for ranges out of order; an output too small for the fixed part.
    public func encode(
        address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        try validate()
        let room = min(output.freeCapacity, Frame.maximumByteCount) - Frame.overheadByteCount
        var budget = room * 8 - Acknowledgement.fixedBitCount
        guard budget >= 0 else {
            throw .frameTooSmall(
                neededByteCount: Frame.overheadByteCount + (Acknowledgement.fixedBitCount + 7) / 8)
        }
        // The oldest range to resend always goes in: a receiver that holds many ranges would else never get back what
        // it has lost. The others are worth less than a durable range.
        let reserved = bitCountOfFirstToResend <= budget ? bitCountOfFirstToResend : 0
        budget -= reserved
        let durableCount = countOfDurableThatFits(&budget)
        let resendLimit = durableCount < durable.count ? min(1, resend.count) : resend.count
        let resendCount = min(resendLimit, RangeCoding.countThatFits(resend, bitBudget: budget + reserved))
        var payload = BitWriter(byteLimit: room)
        payload.write(receiverID, 32)
        payload.write(firstMissing, 32)
        payload.write(UInt32(durableCount), RangeCoding.countBitCount)
        payload.write(UInt32(resendCount), RangeCoding.countBitCount)
        for index in 0..<durableCount {
            payload.writeEliasGamma(durableDistance(at: index))
            payload.writeEliasGamma(durable[index].last - durable[index].first + 1)
        }
        for index in 0..<resendCount { RangeCoding.write(resend, at: index, into: &payload) }
        let header = FrameHeader(type: .acknowledgement, address: address, lowByte: ask?.rawValue ?? 0)
        try FrameEncoder.encode(header: header, payload: &payload, check: log.boundCheck, into: &output)
    }

    /// Decodes the payload of a frame whose header and check have been verified.
    public init(decoding frame: Span<UInt8>, header: FrameHeader) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        reader.require(header.lowByte <= 7, .ask, UInt32(header.lowByte))
        ask = AskNumber(rawValue: header.lowByte)
        receiverID = reader.readReceiverID()
        firstMissing = reader.read(32)
        let durableCount = RangeCoding.readCount(&reader)
        let resendCount = RangeCoding.readCount(&reader)
        durable = SequenceRangeList()
        resend = SequenceRangeList()
        RangeCoding.readDescending(durableCount, above: firstMissing, into: &durable, from: &reader)
        RangeCoding.readAscending(resendCount, into: &resend, from: &reader)
        try reader.checkEnd()
    }

    private static let fixedBitCount = 32 + 32 + 2 * RangeCoding.countBitCount

    private func validate() throws(EncodeError) {
        guard receiverID != 0 else { throw .field(.receiver, value: 0) }
        var index = 0
        while index < durable.count {
            let isApart =
                index == 0
                ? durable[0].last <= Fix.maximumSequence
                : durable[index].last < durable[index - 1].first - 1
            guard isApart, durable[index].first > firstMissing else {
                throw .field(.range, value: durable[index].first)
            }
            index += 1
        }
        try RangeCoding.validateAscending(resend)
    }

    private func durableDistance(at index: Int) -> UInt32 {
        index == 0 ? durable[0].last - firstMissing : durable[index - 1].first - durable[index].last - 1
    }

    private var bitCountOfFirstToResend: Int {
        resend.count > 0 ? 32 + BitWriter.eliasGammaBitCount(resend[0].last - resend[0].first + 1) : 0
    }

    private func countOfDurableThatFits(_ budget: inout Int) -> Int {
        var index = 0
        while index < durable.count {
            let needed =
                BitWriter.eliasGammaBitCount(durableDistance(at: index))
                + BitWriter.eliasGammaBitCount(durable[index].last - durable[index].first + 1)
            guard needed <= budget else { break }
            budget -= needed
            index += 1
        }
        return index
    }
}
