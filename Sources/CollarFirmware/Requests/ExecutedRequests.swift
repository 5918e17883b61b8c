import CollarWire

/// The last eight commands and messages that a collar executed, kept in flash, so that a repeat has no effect.
///
/// A request is stored as a value of 64 bits: receiver id (32), request id (16), action (8), outcome (4; 15 while it is not
/// known), number (4). The number grows with every request; its lowest 3 bits select the key. Each receiver has request ids of
/// its own, so nothing is forgotten when the receiver changes. Another action under a known id is not a repeat: it comes from a
/// receiver that was set back to an earlier state.
struct ExecutedRequests {
    /// What distinguishes a request from others.
    struct Request {
        let receiverID: UInt32
        let requestID: UInt16
        /// The code of a command's action, or for a message 128 + the low 7 bits of the sum of its code and time.
        let action: UInt8

        init(_ command: Command) {
            receiverID = command.receiverID
            requestID = command.requestID
            action = command.action.code
        }

        init(_ message: HostMessage) {
            receiverID = message.receiverID
            requestID = message.requestID
            action = 128 | (message.content.code &+ UInt8(truncatingIfNeeded: message.content.unixSeconds))
        }
    }

    enum Memory: Equatable {
        case inProgress
        case finished(CommandResult.Outcome)
    }

    private static let unknownOutcome: UInt64 = 15
    private static let numberMask: UInt64 = 0xF

    private var nextNumber: UInt64 = 0
    /// Bit n: the request in key n is being executed, and began in this boot.
    private var inProgress: UInt8 = 0

    init<Flash>(stored: SettingsStore<Flash>) {
        var newest: UInt64?
        for place in 0..<8 as Range<UInt64> {
            guard let value = stored.value(of: ExecutedRequests.key(place)) else { continue }
            let number = value & Self.numberMask
            if let other = newest, (number &- other) & Self.numberMask >= 8 { continue }
            newest = number
        }
        if let newest { nextNumber = (newest + 1) & Self.numberMask }
    }

    private static func key(_ number: UInt64) -> StoredKey {
        StoredKey(rawValue: StoredKey.request0.rawValue + UInt8(truncatingIfNeeded: number & 7)) ?? .request0
    }

    private static func value(_ request: Request, _ outcome: CommandResult.Outcome?, number: UInt64) -> UInt64 {
        let outcome = outcome.map { UInt64(widening: $0.rawValue) } ?? unknownOutcome
        return UInt64(widening: request.receiverID) &<< 32 | UInt64(widening: UInt32(request.requestID)) &<< 16
            | UInt64(widening: request.action) &<< 8 | outcome &<< outcomeShift | number
    }

    private static let outcomeShift: UInt64 = 4

    /// The stored entry of a request; nil if the collar never executed the request, or has executed eight others after it.
    func memory<Flash>(of request: Request, in stored: SettingsStore<Flash>) -> Memory? {
        let wanted = ExecutedRequests.value(request, nil, number: 0) &>> 8
        for place in 0..<8 as Range<UInt64> {
            guard let value = stored.value(of: ExecutedRequests.key(place)), value &>> 8 == wanted else { continue }
            if inProgress &>> UInt8(truncatingIfNeeded: place) & 1 == 1 { return .inProgress }
            // If no outcome is stored, a reboot interrupted the request. How far it got is unknown: it counts as failed and is
            // not executed again.
            let outcome = UInt8(truncatingIfNeeded: value &>> Self.outcomeShift) & 15
            return .finished(CommandResult.Outcome(rawValue: outcome) ?? .failed)
        }
        return nil
    }

    /// Puts a request in place of the oldest one in `values`. When that change is durable, call ``began(isInProgress:)``.
    func remember(_ request: Request, _ outcome: CommandResult.Outcome?, in values: inout StoredValues) {
        values[ExecutedRequests.key(nextNumber)] = ExecutedRequests.value(request, outcome, number: nextNumber)
    }

    /// Notes that the change that ``remember(_:_:in:)`` made is durable.
    mutating func began(isInProgress: Bool) {
        let bit: UInt8 = 1 &<< UInt8(truncatingIfNeeded: nextNumber & 7)
        inProgress = isInProgress ? inProgress | bit : inProgress & ~bit
        nextNumber = (nextNumber + 1) & Self.numberMask
    }

    /// Stores the outcome of a request that is being executed. It is durable when this returns.
    /// - Returns: false if no such request is being executed.
    mutating func finish<Flash>(
        _ requestID: UInt16, _ outcome: CommandResult.Outcome, in stored: inout SettingsStore<Flash>,
        _ flash: inout Flash
    ) throws(FlashError) -> Bool {
        for place in 0..<8 as Range<UInt64> {
            let bit: UInt8 = 1 &<< UInt8(truncatingIfNeeded: place)
            let key = ExecutedRequests.key(place)
            guard inProgress & bit != 0, let value = stored.value(of: key),
                UInt16(truncatingIfNeeded: value &>> 16) == requestID
            else { continue }
            let known = value & ~(15 &<< Self.outcomeShift) | UInt64(widening: outcome.rawValue) &<< Self.outcomeShift
            try stored.set(key, to: known, in: &flash)
            inProgress &= ~bit
            return true
        }
        return false
    }
}
