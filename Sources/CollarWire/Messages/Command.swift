/// A command of a host to a collar. The collar does not execute a repeat, which has the same request id, but sends the earlier
/// result again.
public struct Command: Equatable, Sendable {
    /// The action: eight bits, followed by an argument for some actions.
    public enum Action: Equatable, Sendable {
        /// Begin to log positions.
        case startTracking
        /// Stop logging positions.
        case stopTracking
        /// Make and send a fix now.
        case locateNow
        /// Sound for this many milliseconds.
        case sound(milliseconds: UInt16)
        /// Restart the collar.
        case reboot
        /// Pair with this receiver, whose id is not 0.
        case pair(receiverID: UInt32)
        /// End the pairing with the receiver.
        case unpair
        /// Make fixes without a pause for this many seconds, and be heard every ten seconds; 0 ends that.
        case find(seconds: UInt16)
        /// Send a ``PowerReport`` now.
        case reportPower

        /// The code of the action in a frame, 1 … 9.
        public var code: UInt8 {
            switch self {
            case .startTracking: 1
            case .stopTracking: 2
            case .locateNow: 3
            case .sound: 4
            case .reboot: 5
            case .pair: 6
            case .unpair: 7
            case .find: 8
            case .reportPower: 9
            }
        }
    }

    /// The id that the result repeats.
    public var requestID: UInt16
    /// The receiver that sends the command; not 0.
    public var receiverID: UInt32
    /// The action.
    public var action: Action

    /// Creates a command.
    public init(requestID: UInt16, receiverID: UInt32, action: Action) {
        self.requestID = requestID
        self.receiverID = receiverID
        self.action = action
    }

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/field(_:value:)`` if a receiver id is 0.
    public func encode(address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard receiverID != 0 else { throw .field(.receiver, value: 0) }
        var payload = BitWriter()
        payload.write(UInt32(requestID), 16)
        payload.write(receiverID, 32)
        payload.write(UInt32(action.code), 8)
        switch action {
        case .sound(let value), .find(let value): payload.write(UInt32(value), 16)
        case .pair(let receiverID):
            guard receiverID != 0 else { throw .field(.receiver, value: 0) }
            payload.write(receiverID, 32)
        case .startTracking, .stopTracking, .locateNow, .reboot, .unpair, .reportPower: break
        }
        try payload.encode(as: .command, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        receiverID = reader.readReceiverID()
        let code = reader.read(8)
        switch code {
        case 1: action = .startTracking
        case 2: action = .stopTracking
        case 3: action = .locateNow
        case 4: action = .sound(milliseconds: UInt16(truncatingIfNeeded: reader.read(16)))
        case 5: action = .reboot
        case 6: action = .pair(receiverID: reader.readReceiverID())
        case 7: action = .unpair
        case 8: action = .find(seconds: UInt16(truncatingIfNeeded: reader.read(16)))
        default:
            action = .reportPower
            reader.require(code == 9, .command, code)
        }
        try reader.checkEnd()
    }
}

/// The result of a request.
public struct CommandResult: Equatable, Sendable {
    /// The outcome; eight bits.
    public enum Outcome: UInt8, Equatable, Sendable {
        /// Done.
        case ok = 0
        /// The collar does not know the request.
        case unknown = 1
        /// The collar knows the request but does not support it.
        case unsupported = 2
        /// An argument is invalid.
        case invalid = 3
        /// The collar does not obey this receiver.
        case refused = 4
        /// The version of the update is not above that of the settings in force.
        case conflict = 5
        /// The collar cannot execute the request now.
        case busy = 6
        /// The execution took too long.
        case timeout = 7
        /// The collar tried to execute the request and failed.
        case failed = 8
    }

    /// The id of the request.
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
        try payload.encode(as: .commandResult, flags: flags, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        outcome = reader.outcome(of: reader.read(8))
        try reader.checkEnd()
    }
}

extension BitReader {
    /// The outcome with this code. An invalid code is recorded.
    @_lifetime(self: copy self)
    mutating func outcome(of code: UInt32) -> CommandResult.Outcome {
        let outcome = CommandResult.Outcome(rawValue: UInt8(truncatingIfNeeded: code))
        require(outcome != nil, .outcome, code)
        return outcome ?? .ok
    }
}
