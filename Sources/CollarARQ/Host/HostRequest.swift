import CollarWire

/// A request of the host to a collar.
public enum HostRequest: Equatable, Sendable {
    /// A command. The collar replies with a result.
    case command(Command.Action)
    /// At most ``settingLimit`` settings to use, with a version above the collar's. Settings that are not named stay as they
    /// are. The collar replies with a report, or with a result that tells why it did not obey.
    case settingsUpdate(version: SettingsVersion, SettingList)
    /// A request for the settings in force. The collar replies with reports.
    case settingsRequest
    /// A message for the collar's application. The collar replies with a result once the application has it.
    case message(ApplicationMessage)

    /// The most settings of an update: as many as fit a sealed frame of 51 bytes.
    public static let settingLimit = 5

    /// Whether this is the command *pair*, the only command that a collar paired with another receiver can obey.
    public var isToPair: Bool { if case .command(.pair) = self { true } else { false } }

    /// Whether this request changes settings.
    var isSettingsUpdate: Bool { if case .settingsUpdate = self { true } else { false } }

    /// Whether `other`, if it is newer, makes this request pointless. An update of settings does so if it names every key of
    /// the older one.
    public func isReplaced(by other: HostRequest) -> Bool {
        switch (self, other) {
        case (.settingsUpdate(_, let settings), .settingsUpdate(_, let newer)): newer.namesEveryKey(of: settings)
        case (.settingsRequest, .settingsRequest): true
        case (.command(let action), .command(let newer)): action.kind == newer.kind
        // A reply is never replaced: a newer message does not answer the same request.
        case (.message(let message), .message(let newer)):
            message.code == newer.code && !message.isReply && message.kind == newer.kind
        default: false
        }
    }
}

extension SettingList {
    /// Whether this list has a setting for every key of another list.
    fileprivate func namesEveryKey(of other: SettingList) -> Bool {
        for index in 0..<other.count {
            var isNamed = false
            for position in 0..<count where self[position].key == other[index].key { isNamed = true }
            guard isNamed else { return false }
        }
        return true
    }
}

extension Command.Action {
    /// Actions of one kind undo or repeat one another.
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

/// How a request ended.
public enum HostRequestOutcome: Equatable, Sendable {
    /// The collar's result.
    case result(CommandResult.Outcome)
    /// The collar reported its settings, which have this version.
    case reported(version: SettingsVersion)
    /// The deadline passed. The collar may have executed the request.
    case expired
}

/// A request that has ended.
public struct EndedRequest: Equatable, Sendable {
    /// The id of the request.
    public var requestID: UInt16
    /// How the request ended.
    public var outcome: HostRequestOutcome

    /// Creates an ended request.
    public init(requestID: UInt16, outcome: HostRequestOutcome) {
        self.requestID = requestID
        self.outcome = outcome
    }
}
