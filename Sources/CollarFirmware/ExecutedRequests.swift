import CollarWire

/// The last eight commands that a collar executed, kept in flash, so that a repeat has no effect.
///
/// One is a value of 64 bits: receiver id (32), request id (16), outcome (4; 15 while it is not known), number (12). The
/// number grows with every command; its lowest 3 bits tell the key. A receiver's ids are its own, so that nothing need be
/// forgotten when another comes.
struct ExecutedRequests {
    enum Memory: Equatable {
        case inProgress
        case finished(CommandResult.Outcome)
    }

    private static let unknownOutcome: UInt64 = 15
    private static let numberMask: UInt64 = 0xFFF

    private var nextNumber: UInt64 = 0
    /// Bit n: what key n holds is being executed since this boot.
    private var inProgress: UInt8 = 0

    init<Flash>(stored: SettingsStore<Flash>) {
        var newest: UInt64?
        for place in 0..<8 as Range<UInt64> {
            guard let value = stored.value(of: ExecutedRequests.key(place)) else { continue }
            let number = value & Self.numberMask
            if let other = newest, (number &- other) & Self.numberMask >= 0x800 { continue }
            newest = number
        }
        if let newest { nextNumber = (newest + 1) & Self.numberMask }
    }

    private static func key(_ number: UInt64) -> StoredKey {
        StoredKey(rawValue: StoredKey.request0.rawValue + UInt8(truncatingIfNeeded: number & 7)) ?? .request0
    }

    private static func value(
        _ receiverID: UInt32, _ requestID: UInt16, _ outcome: CommandResult.Outcome?, number: UInt64
    ) -> UInt64 {
        let outcome = outcome.map { UInt64(widening: $0.rawValue) } ?? unknownOutcome
        return UInt64(widening: receiverID) &<< 32 | UInt64(widening: UInt32(requestID)) &<< 16 | outcome &<< 12 | number
    }

    /// What is remembered of a request; nil where it was not executed, or long ago.
    func memory<Flash>(
        ofRequest requestID: UInt16, by receiverID: UInt32, in stored: SettingsStore<Flash>
    ) -> Memory? {
        for place in 0..<8 as Range<UInt64> {
            guard let value = stored.value(of: ExecutedRequests.key(place)),
                UInt32(truncatingIfNeeded: value &>> 32) == receiverID,
                UInt16(truncatingIfNeeded: value &>> 16) == requestID
            else { continue }
            if inProgress &>> UInt8(truncatingIfNeeded: place) & 1 == 1 { return .inProgress }
            // A boot in the middle of it: nobody knows how far it came, and it is not done again.
            let outcome = UInt8(truncatingIfNeeded: value &>> 12) & 15
            return .finished(CommandResult.Outcome(rawValue: outcome) ?? .failed)
        }
        return nil
    }

    /// Remembers a request in place of the oldest. Durable with the change that `values` are part of; then ``began(isInProgress:)``.
    func remember(
        _ command: Command, _ outcome: CommandResult.Outcome?, in values: inout StoredValues
    ) {
        values[ExecutedRequests.key(nextNumber)] = ExecutedRequests.value(
            command.receiverID, command.requestID, outcome, number: nextNumber)
    }

    /// What ``remember(_:_:in:)`` wrote is durable.
    mutating func began(isInProgress: Bool) {
        let bit: UInt8 = 1 &<< UInt8(truncatingIfNeeded: nextNumber & 7)
        inProgress = isInProgress ? inProgress | bit : inProgress & ~bit
        nextNumber = (nextNumber + 1) & Self.numberMask
    }

    /// The outcome of a request that is being executed is known: it is durable when this returns.
    /// - Returns: false where no such request is being executed.
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
            let known = value & ~(15 &<< 12) | UInt64(widening: outcome.rawValue) &<< 12
            try stored.set(key, to: known, in: &flash)
            inProgress &= ~bit
            return true
        }
        return false
    }
}
