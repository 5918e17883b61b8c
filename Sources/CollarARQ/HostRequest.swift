import CollarWire

/// What a host wants of a collar.
public enum HostRequest: Equatable, Sendable {
    /// A command; its result is the answer.
    case command(Command.Order)
    /// Settings to use, of a version above the collar's, at most ``settingLimit``. The answer is a report, or a result
    /// that tells why not. Settings that are not named stay as they are.
    case order(version: UInt64, SettingList)
    /// Which settings are in force; reports are the answer.
    case report

    /// Settings of an order: as many as fit the 51 bytes that a window allows for.
    public static let settingLimit = 6

    /// Whether it asks the collar to belong to a receiver: a collar of another receiver may obey it.
    public var isToPair: Bool { if case .command(.pair) = self { true } else { false } }

    /// Whether it changes settings.
    var isOrder: Bool { if case .order = self { true } else { false } }

    /// Whether a newer one makes this one pointless.
    public func isOfSameKind(as other: HostRequest) -> Bool {
        switch (self, other) {
        case (.order, .order), (.report, .report): true
        case (.command(let order), .command(let newer)): order.kind == newer.kind
        default: false
        }
    }
}

extension Command.Order {
    /// Orders of one kind undo or repeat one another.
    fileprivate var kind: UInt8 {
        switch self {
        case .startTracking, .stopTracking: 1
        case .locateNow: 2
        case .sound: 3
        case .reboot: 4
        case .pair, .unpair: 5
        }
    }
}

/// What became of a request.
public enum HostRequestOutcome: Equatable, Sendable {
    /// The collar's result.
    case result(CommandResult.Outcome)
    /// The collar reported the settings of this version.
    case reported(version: UInt64)
    /// Its time was over. It may have been executed.
    case expired
}

/// A request that has ended.
public struct EndedRequest: Equatable, Sendable {
    /// Its id.
    public var requestID: UInt16
    /// How it ended.
    public var outcome: HostRequestOutcome

    /// Names an end.
    public init(requestID: UInt16, outcome: HostRequestOutcome) {
        self.requestID = requestID
        self.outcome = outcome
    }
}
