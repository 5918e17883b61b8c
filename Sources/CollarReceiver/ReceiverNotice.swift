import CollarBridge
import CollarDomain
import CollarJournal
import CollarWire
import SerialDevices

/// What happens on the way, for a person; nothing of it ends the receiver.
public enum ReceiverNotice: Equatable, Sendable {
    /// Waiting for the path to appear.
    case waitingForPort(path: String)
    /// Waiting for a collar radio; these other serial devices are there.
    case waitingForRadio(others: [SerialDevice])
    /// A radio is open.
    case opened(path: String)
    /// A radio went away.
    case unplugged(path: String)
    /// A port cannot be opened now.
    case cannotOpen(SerialPortError)
    /// Nobody at this port has said who it is, for this many seconds.
    case noIdentity(path: String, seconds: Int)
    /// What is at the port speaks another version of the protocol.
    case otherVersion(path: String, version: UInt8)
    /// The base radio at a port says who it is.
    case radio(path: String, RadioIdentity)
    /// The base radio at a port says how its modem is set.
    case modem(path: String, ModemSettings)
    /// A collar is heard for the first time on this run.
    case collar(deviceID: UInt64, logID: UInt32, path: String)
    /// A collar belongs to another receiver: it is listened to, and not answered.
    case pairedElsewhere(deviceID: UInt64, receiverID: UInt32)
    /// Fixes that were stored and are damaged: the collar is asked for them again.
    case damagedFixes(deviceID: UInt64, logID: UInt32, first: UInt32, last: UInt32)
    /// A collar's journal was written by another receiver: this state directory is a copy of that one's.
    case copiedJournal(deviceID: UInt64, previousReceiverID: UInt32)
    /// Damage in a collar's journal was stepped over.
    case journalDamage(deviceID: UInt64, DamageReport)
    /// Old fixes cannot be removed; everything else goes on.
    case cannotRemoveOld(deviceID: UInt64, JournalError)
    /// A collar's journal cannot store: its acknowledgements stop.
    case storageFailing(deviceID: UInt64, JournalError)
    /// A collar's journal stores again.
    case storageRecovered(deviceID: UInt64)
    /// A collar's journal cannot be opened: the collar is not served.
    case journalUnavailable(deviceID: UInt64, JournalError)
    /// A collar's journal cannot be read back: its lines wait. Storing goes on.
    case journalUnreadable(deviceID: UInt64, JournalError)
    /// Fixes that will never come: the collar does not have them any more.
    case lost(deviceID: UInt64, first: UInt32, last: UInt32)
    /// The same, but a former receiver of the collar has acknowledged them.
    case deliveredElsewhere(deviceID: UInt64, first: UInt32, last: UInt32)
    /// The link to a collar changed: it is late, not reachable, heard again, …; what is bad once a minute for each kind.
    case health(deviceID: UInt64, LinkHealth.Event)
    /// A collar does what no sound one does; once a minute for each collar and kind.
    case misbehaving(deviceID: UInt64, Misbehaviour)
    /// A collar that said who it is was not taken up; once a minute for each reason, with one of the collars.
    case collarRefused(deviceID: UInt64, path: String, CollarRefusal)
    /// Unknown collars at this port ask more often than they are asked who they are; once a minute.
    case unknownAsksIgnored(path: String)
    /// A request to a collar has ended.
    case requestEnded(ResultLine)
    /// Requests to a collar, in a file of this directory, cannot be used: they were set aside.
    case requestsSetAside(deviceID: UInt64, path: String)
    /// Requests to a collar cannot be read, or what became of one cannot be stored.
    case requestsFailing(deviceID: UInt64, JournalError)
    /// There is no place where requests of other programs are taken; the path that was tried last, and errno.
    case controlFailing(path: String, errorNumber: Int32)
}

/// What a receiver counted.
public struct ReceiverStatistics: Equatable, Sendable {
    /// Fixes stored.
    public var fixes = 0
    /// Fixes that were stored already.
    public var duplicates = 0
    /// Lines written.
    public var lines = 0
    /// Frames used.
    public var frames = 0
    /// Frames whose check fails, or that are cut or stuffed wrongly.
    public var damagedFrames = 0
    /// Frames that may be whole but belong to no known collar.
    public var unknownFrames = 0
    /// Frames of a type, version or flag this version does not know.
    public var unsupportedFrames = 0
    /// Frames with a valid check and an impossible content.
    public var malformedFrames = 0
}
