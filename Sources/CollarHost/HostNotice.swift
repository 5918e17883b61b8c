import CollarJournal
import CollarWire

/// What a host tells a person or a program beside entries. No notice ends the host.
///
/// Links are named as they were named to ``Host/addLink(named:)``.
public enum HostNotice: Equatable, Sendable {
    /// Nobody on a link has said who it is, for this many seconds.
    case noIdentity(link: String, seconds: Int)
    /// The base radio of a link says who it is.
    case radio(link: String, RadioIdentity)
    /// The base radio of a link says how its modem is set.
    case modem(link: String, ModemSettings)
    /// A collar is heard for the first time on this run.
    case collar(deviceID: UInt64, logID: UInt32, link: String)
    /// A collar belongs to another receiver: it is listened to, and not answered.
    case pairedElsewhere(deviceID: UInt64, receiverID: UInt32)
    /// Stored fixes are damaged: the collar is asked for them again.
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
    /// A collar's journal cannot be read back: its entries wait. Storing goes on.
    case journalUnreadable(deviceID: UInt64, JournalError)
    /// Fixes that will never come: the collar does not have them any more.
    case lost(deviceID: UInt64, first: UInt32, last: UInt32)
    /// The same, but a former receiver of the collar has acknowledged them.
    case deliveredElsewhere(deviceID: UInt64, first: UInt32, last: UInt32)
    /// The link to a collar changed: it is late, not reachable, heard again, …; a worsening once a minute for each kind.
    case health(deviceID: UInt64, LinkHealth.Event)
    /// A collar does what no sound one does; once a minute for each collar and kind.
    case misbehaving(deviceID: UInt64, Misbehaviour)
    /// A collar that said who it is was not taken up; once a minute for each reason, with one of the collars.
    case collarRefused(deviceID: UInt64, link: String, CollarRefusal)
    /// Unknown collars on this link ask more often than they are asked who they are; once a minute.
    case unknownAsksIgnored(link: String)
    /// A command to a collar has ended.
    case commandEnded(CommandReport)
    /// Commands to a collar, in a file of this directory, cannot be used: they were set aside.
    case commandsSetAside(deviceID: UInt64, path: String)
    /// Commands to a collar cannot be read, or the end of one cannot be stored.
    case commandsFailing(deviceID: UInt64, JournalError)
    /// A collar tells its condition.
    case status(deviceID: UInt64, logID: UInt32, Status)
}

/// What a host counted since it began.
public struct HostStatistics: Equatable, Sendable {
    /// Fixes stored.
    public var fixes = 0
    /// Fixes that were stored already.
    public var duplicates = 0
    /// Frames used.
    public var frames = 0
    /// Frames whose CRC fails, or that are cut or encoded wrongly.
    public var damagedFrames = 0
    /// Frames that may be whole but belong to no known collar.
    public var unknownFrames = 0
    /// Frames of a type, version or flag this version does not know.
    public var unsupportedFrames = 0
    /// Frames with a valid CRC and an impossible content.
    public var malformedFrames = 0

    /// Nothing counted.
    public init() {}
}
