/// The sequences of a collar's log that a receiver holds durably. A sequence that is not named is not acknowledged.
///
/// The log itself is not named: the CRC is bound to device id and log id.
///
/// Payload: receiver id (32 bits), first missing sequence (32), number of durable ranges (6), number of ranges to
/// resend (6), then the ranges in Elias gamma codes:
/// - the durable ranges, newest first. A range has two numbers: its distance, and the number of sequences in it. The distance
///   of the first range is its last sequence minus ``firstMissing``; that of each further range is the number of sequences
///   between it and the range before it in the list;
/// - the ranges to resend, oldest first. They have the same two numbers, but the first range has its first sequence, as 32
///   bits, in place of a distance.
public struct Acknowledgement: Equatable, Sendable {
    /// The receiver that acknowledges; never 0.
    public var receiverID: UInt32
    /// The poll that this message answers; nil if it answers none.
    public var poll: PollNumber?
    /// Every sequence below this one is durable, known to be permanently lost, or delivered elsewhere.
    public var firstMissing: UInt32
    /// Durable ranges above ``firstMissing``, newest first; they do not touch.
    public var durable: SequenceRangeList
    /// Ranges that the collar is to send again although they were acknowledged before, oldest first; they do not touch.
    public var resend: SequenceRangeList
    /// How many collars the host hears at the port where the answer goes out.
    public var company: Company

    /// Creates an acknowledgement.
    public init(
        receiverID: UInt32, poll: PollNumber?, firstMissing: UInt32, durable: SequenceRangeList = .init(),
        resend: SequenceRangeList = .init(), company: Company = .alone
    ) {
        self.receiverID = receiverID
        self.poll = poll
        self.firstMissing = firstMissing
        self.durable = durable
        self.resend = resend
        self.company = company
    }

    /// Appends the bare frame. Ranges that do not fit the output are left out: at first ranges that the collar is to resend, from
    /// the newest on, and then durable ranges, from the oldest on. The oldest range to resend is left out only if that range
    /// alone does not fit.
    /// - Throws: ``EncodeError/field(_:value:)`` if ranges are out of order or the receiver id is 0;
    ///   ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small for the fixed part.
    public func encode(address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        try validate()
        let room = min(output.freeCapacity, Frame.maximumByteCount) - Frame.overheadByteCount
        var budget = room * 8 - Acknowledgement.fixedBitCount
        guard budget >= 0 else {
            throw .frameTooSmall(neededByteCount: Frame.overheadByteCount + (Acknowledgement.fixedBitCount + 7) / 8)
        }
        // Room for the oldest range to resend is reserved before the durable ranges are placed. Otherwise a receiver that holds
        // many ranges would never get back fixes that it has lost. The other ranges to resend matter less than durable ones.
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
        try payload.encode(
            as: .acknowledgement, flags: FrameFlags(company: company), address: address, lowByte: poll?.rawValue ?? 0,
            crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>, header: FrameHeader) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        reader.require(header.lowByte <= 7, .poll, UInt32(header.lowByte))
        poll = PollNumber(rawValue: header.lowByte)
        company = header.flags.company
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
            let isApart = index == 0 ? durable[0].last <= Fix.maximumSequence : durable[index].last < durable[index - 1].first - 1
            guard isApart, durable[index].first > firstMissing else { throw .field(.range, value: durable[index].first) }
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

/// How many collars a host hears at a port, as its acknowledgements there say (PROTOCOL.md, section 9). Where its airtime runs short,
/// it says ``many``.
public enum Company: UInt8, Equatable, Sendable {
    /// One collar.
    case alone = 0
    /// 2 … 4 collars.
    case few = 1
    /// 5 … 16 collars.
    case several = 2
    /// More than 16 collars, or any number while the base radio's airtime runs short.
    case many = 3

    /// The company of a collar at a port where `collarCount` collars are heard, itself among them.
    public init(collarCount: Int) {
        self = collarCount <= 1 ? .alone : collarCount <= 4 ? .few : collarCount <= 16 ? .several : .many
    }

    /// The number of collars for which a collar in this company waits: 1, 4, 16 or 64.
    public var assumedCount: Int64 { 1 &<< Int64(widening: 2 &* rawValue) }
}

extension FrameFlags {
    private static let companyShift: UInt8 = 3

    /// Flags of an acknowledgement in clear.
    init(company: Company) { self.init(rawValue: company.rawValue &<< FrameFlags.companyShift) }

    /// In an acknowledgement: how many collars the host hears at the port.
    var company: Company { Company(rawValue: (rawValue & FrameFlags.ignorableMask) &>> FrameFlags.companyShift) ?? .alone }
}
