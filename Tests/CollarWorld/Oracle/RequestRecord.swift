import CollarFirmware
import CollarWire

/// The state of a collar that follows from the requests that it executed.
struct RequestedState: Equatable {
    var isTracking = true
    var receiverID: UInt32 = 0
    var version = SettingsVersion.defaults
    /// The settings that were updated; the others have their defaults.
    var settings: [UInt8: UInt32] = [:]

    mutating func apply(_ update: Settings) {
        version = update.version
        for index in 0..<update.entries.count { settings[update.entries[index].key] = update.entries[index].value }
    }

    mutating func apply(_ action: Command.Action) {
        switch action {
        case .startTracking: isTracking = true
        case .stopTracking: isTracking = false
        case .pair(let receiverID): self.receiverID = receiverID
        case .unpair: receiverID = 0
        case .locateNow, .sound, .reboot, .find, .reportPower: break
        }
    }

    /// Whether a collar is in this state.
    func isState(of collar: SimulatedCollar) -> Bool {
        guard let current = collar.settings, collar.isTracking == isTracking, collar.pairedReceiverID == receiverID,
            current.version == version
        else { return false }
        return settings.allSatisfy { one in SettingKey(rawValue: one.key).map { current[$0] } == one.value }
    }
}

/// A command or message as a collar remembers it.
struct ExecutedCommand: Equatable {
    var receiverID: UInt32
    var requestID: UInt16
    var code: UInt8

    init(_ command: Command) {
        receiverID = command.receiverID
        requestID = command.requestID
        code = command.action.code
    }

    init(_ message: HostMessage) {
        receiverID = message.receiverID
        requestID = message.requestID
        code = 128 | (message.content.code &+ UInt8(truncatingIfNeeded: message.content.unixSeconds))
    }
}

/// The request for which a host uses an id.
enum RequestUse: Equatable {
    case command(ExecutedCommand)
    case settings(SettingsVersion)
}

/// The oracle's record of the requests to the collar of a log.
struct RequestRecord {
    /// A change during which the flash failed: it may have taken effect or not.
    struct Candidate {
        var state: RequestedState
        /// The command; nil for settings.
        var command: ExecutedCommand?
    }

    var state = RequestedState()
    var candidates: [Candidate] = []
    /// The receiver that commanded the collar to unpair, as long as the collar has no other.
    var releasedBy: UInt32?
    /// Commands that were executed.
    private(set) var executed: Set<UInt16> = []
    /// The last eight executed commands, which a collar remembers; nil for a command that it may or may not remember. A command
    /// with the same id and another action is another command. A frame that the radio holds back until eight further commands
    /// were executed is executed again.
    private(set) var lastExecuted: [ExecutedCommand?] = []
    /// Ids of which the oracle judges no result: the flash failed during the command, or several commands may have the id.
    var uncertain: Set<UInt16> = []
    /// The host that used each id last.
    private var givers: [UInt16: Int] = [:]
    /// The host that used each id last, and the request.
    private var uses: [UInt16: (host: Int, use: RequestUse)] = [:]
    /// The outcomes that the firmware has reported.
    var outcomes: [UInt16: CommandResult.Outcome] = [:]
    /// Commands whose outcome the firmware reports later.
    var isLate: Set<UInt16> = []

    /// A host uses an id. A result does not name the receiver: if two hosts have used the same id, it may belong to either
    /// command.
    mutating func given(_ requestID: UInt16, by host: Int) {
        if let other = givers[requestID], other != host { uncertain.insert(requestID) }
        // A host without a record of its ids begins at a random one. Long after, the ids can reach those of former requests.
        if givers[requestID] != nil, !lastExecuted.contains(where: { $0?.requestID == requestID }) { forget(requestID) }
        givers[requestID] = host
        forgetUncertain(requestID)
    }

    /// A host hands out a request. A host and its clone may use one id for different requests: each of them gives
    /// new ids to the requests that were open when the clone was made.
    mutating func handedOut(_ requestID: UInt16, for use: RequestUse, by host: Int) {
        if let other = uses[requestID], other.use != use {
            if other.host != host { uncertain.insert(requestID) }
            forgetUncertain(requestID)
        }
        uses[requestID] = (host, use)
    }

    private mutating func forget(_ requestID: UInt16) {
        executed.remove(requestID)
        outcomes[requestID] = nil
        isLate.remove(requestID)
    }

    /// After a rollback an id can come again for a new command, while the collar still remembers the old one.
    private mutating func forgetUncertain(_ requestID: UInt16) {
        guard uncertain.contains(requestID) else { return }
        lastExecuted = lastExecuted.map { $0?.requestID == requestID ? nil : $0 }
    }

    /// A host has forgotten which ids it has used: they may be used again for other commands.
    mutating func idsMayRepeat() { uncertain.formUnion(executed) }

    mutating func noteExecuted(_ command: ExecutedCommand) {
        executed.insert(command.requestID)
        remember(command)
    }

    /// The flash failed during a command: the command may be among the last eight or not.
    mutating func noteUncertain(_ command: ExecutedCommand, state: RequestedState) {
        uncertain.insert(command.requestID)
        candidates.append(Candidate(state: state, command: command))
        remember(nil)
    }

    private mutating func remember(_ command: ExecutedCommand?) {
        lastExecuted.append(command)
        if lastExecuted.count > 8 { lastExecuted.removeFirst() }
    }
}
