/// What a host may tell a collar to do. The collar executes a request id once; a repeat returns the old result.
public struct Command: Equatable, Sendable {
    /// The order; eight bits and, for some, an argument.
    public enum Order: Equatable, Sendable {
        /// Begin to log positions.
        case startTracking
        /// Stop logging positions.
        case stopTracking
        /// Make and send a fix now.
        case locateNow
        /// Sound for this many milliseconds.
        case sound(milliseconds: UInt16)
        /// Boot again.
        case reboot
        /// Belong to this receiver from now on; not 0.
        case pair(receiverID: UInt32)
        /// Belong to no receiver.
        case unpair

        /// Its code in a frame, 1 … 7.
        public var code: UInt8 {
            switch self {
            case .startTracking: 1
            case .stopTracking: 2
            case .locateNow: 3
            case .sound: 4
            case .reboot: 5
            case .pair: 6
            case .unpair: 7
            }
        }
    }

    /// Correlates the result.
    public var requestID: UInt16
    /// The receiver that orders; not 0.
    public var receiverID: UInt32
    /// The order.
    public var order: Order

    /// Creates a command.
    public init(requestID: UInt16, receiverID: UInt32, order: Order) {
        self.requestID = requestID
        self.receiverID = receiverID
        self.order = order
    }

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/field(_:value:)`` for a receiver id of 0.
    public func encode(
        address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        guard receiverID != 0 else { throw .field(.receiver, value: 0) }
        var payload = BitWriter()
        payload.write(UInt32(requestID), 16)
        payload.write(receiverID, 32)
        payload.write(UInt32(order.code), 8)
        switch order {
        case .sound(let milliseconds): payload.write(UInt32(milliseconds), 16)
        case .pair(let receiverID):
            guard receiverID != 0 else { throw .field(.receiver, value: 0) }
            payload.write(receiverID, 32)
        case .startTracking, .stopTracking, .locateNow, .reboot, .unpair: break
        }
        let header = FrameHeader(type: .command, address: address)
        try FrameEncoder.encode(header: header, payload: &payload, check: log.boundCheck, into: &output)
    }

    /// Decodes the payload of a frame whose header and check have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        receiverID = reader.readReceiverID()
        let code = reader.read(8)
        switch code {
        case 1: order = .startTracking
        case 2: order = .stopTracking
        case 3: order = .locateNow
        case 4: order = .sound(milliseconds: UInt16(truncatingIfNeeded: reader.read(16)))
        case 5: order = .reboot
        case 6: order = .pair(receiverID: reader.readReceiverID())
        default:
            order = .unpair
            reader.require(code == 7, .command, code)
        }
        try reader.checkEnd()
    }
}

/// What became of a request.
public struct CommandResult: Equatable, Sendable {
    /// The outcome; eight bits.
    public enum Outcome: UInt8, Equatable, Sendable {
        /// Done.
        case ok = 0
        /// Not known here.
        case unknown = 1
        /// Known, and this collar cannot do it.
        case unsupported = 2
        /// An argument makes no sense.
        case invalid = 3
        /// Not from this receiver.
        case refused = 4
        /// Settings of a higher version are in force.
        case conflict = 5
        /// Not now.
        case busy = 6
        /// It took too long.
        case timeout = 7
        /// Tried, and it failed.
        case failed = 8
    }

    /// The request.
    public var requestID: UInt16
    /// The outcome.
    public var outcome: Outcome

    /// Creates a result.
    public init(requestID: UInt16, outcome: Outcome) {
        self.requestID = requestID
        self.outcome = outcome
    }

    /// Appends the bare frame.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(UInt32(requestID), 16)
        payload.write(UInt32(outcome.rawValue), 8)
        let header = FrameHeader(type: .commandResult, flags: flags, address: address)
        try FrameEncoder.encode(header: header, payload: &payload, check: log.boundCheck, into: &output)
    }

    /// Decodes the payload of a frame whose header and check have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        let code = reader.read(8)
        let outcome = Outcome(rawValue: UInt8(truncatingIfNeeded: code))
        reader.require(outcome != nil, .outcome, code)
        self.outcome = outcome ?? .ok
        try reader.checkEnd()
    }
}
