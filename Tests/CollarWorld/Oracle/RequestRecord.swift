import CollarFirmware
import CollarWire

/// What the orders that a collar executed have led to.
struct OrderedState: Equatable {
    var isTracking = true
    var receiverID: UInt32 = 0
    var version: UInt64 = 0
    /// Settings that were ordered; the others have their defaults.
    var settings: [UInt8: UInt32] = [:]

    mutating func apply(_ order: Settings) {
        version = order.version
        for index in 0..<order.entries.count { settings[order.entries[index].key] = order.entries[index].value }
    }

    mutating func apply(_ order: Command.Order) {
        switch order {
        case .startTracking: isTracking = true
        case .stopTracking: isTracking = false
        case .pair(let receiverID): self.receiverID = receiverID
        case .unpair: receiverID = 0
        case .locateNow, .sound, .reboot: break
        }
    }

    /// Whether this is how a collar is.
    func isState(of collar: SimulatedCollar) -> Bool {
        guard let current = collar.settings, collar.isTracking == isTracking, collar.pairedReceiverID == receiverID,
            current.version == version
        else { return false }
        return settings.allSatisfy { one in SettingKey(rawValue: one.key).map { current[$0] } == one.value }
    }
}

/// A command as a collar remembers it.
struct ExecutedCommand: Equatable {
    var requestID: UInt16
    var code: UInt8

    init(_ command: Command) {
        requestID = command.requestID
        code = command.order.code
    }
}

/// What the oracle knows of the requests to the collar of a log.
struct RequestRecord {
    /// A change during which the flash failed: it may have come about.
    struct Candidate {
        var state: OrderedState
        /// The command; nil for settings.
        var command: ExecutedCommand?
    }

    var state = OrderedState()
    var candidates: [Candidate] = []
    /// The receiver that ordered the collar to unpair, while it has no other.
    var releasedBy: UInt32?
    /// Commands that were executed.
    private(set) var executed: Set<UInt16> = []
    /// The last eight of them, which a collar remembers; nil for one that it may remember. Another order under the same id is another command. A frame that the radio holds back for longer than eight further
    /// commands take is beyond what it promises.
    private(set) var lastExecuted: [ExecutedCommand?] = []
    /// Commands during which the flash failed.
    var uncertain: Set<UInt16> = []
    /// Which host used an id last.
    private var givers: [UInt16: Int] = [:]
    /// Outcomes that the firmware has told.
    var outcomes: [UInt16: CommandResult.Outcome] = [:]
    /// Commands whose outcome the firmware tells.
    var isLate: Set<UInt16> = []

    /// A host uses an id. A result does not name the receiver: where two have the same one it may be of either.
    mutating func given(_ requestID: UInt16, by host: Int) {
        if let other = givers[requestID], other != host { uncertain.insert(requestID) }
        givers[requestID] = host
        // An id that comes again after a rollback is that of a new command; the collar remembers the old one as well.
        if uncertain.contains(requestID) {
            lastExecuted = lastExecuted.map { $0?.requestID == requestID ? nil : $0 }
        }
    }

    /// A host has forgotten which ids it has used: they may come again for other commands.
    mutating func idsMayRepeat() { uncertain.formUnion(executed) }

    mutating func noteExecuted(_ command: ExecutedCommand) {
        executed.insert(command.requestID)
        remember(command)
    }

    /// The flash failed amid a command: it may count among the last eight.
    mutating func noteUncertain(_ command: ExecutedCommand, state: OrderedState) {
        uncertain.insert(command.requestID)
        candidates.append(Candidate(state: state, command: command))
        remember(nil)
    }

    private mutating func remember(_ command: ExecutedCommand?) {
        lastExecuted.append(command)
        if lastExecuted.count > 8 { lastExecuted.removeFirst() }
    }
}
