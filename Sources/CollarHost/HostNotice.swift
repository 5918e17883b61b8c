import CollarJournal
import CollarWire

/// An event that a host reports to a person or a program. Entries are not notices. No notice ends the host.
///
/// A link has the name that was given to ``Host/addLink(named:)``.
package enum HostNotice: Equatable, Sendable {
    /// No known collar was heard on a link within this many seconds after its opening. `isLineNamed` tells that a person has said that
    /// the link is a serial line.
    case noIdentity(link: String, seconds: Int, isLineNamed: Bool = false)
    /// The packets that come in on a link are no frames; no known collar was heard there.
    case foreignPackets(link: String, ForeignPacketKind)
    /// A whole frame on a link has a version, type or critical flag that this host does not know; at most once a minute.
    case unsupportedFrame(link: String)
    case radio(link: String, RadioIdentity)
    case modem(link: String, ModemSettings)
    /// A collar is heard for the first time in this run, with sealed frames or in clear.
    case collar(deviceID: UInt64, logID: UInt32, link: String, isSealed: Bool)
    /// A collar belongs to another receiver: the host stores its fixes and does not answer it.
    case pairedElsewhere(deviceID: UInt64, receiverID: UInt32)
    /// Stored fixes are damaged: the collar is asked for them again.
    case damagedFixes(deviceID: UInt64, logID: UInt32, first: UInt32, last: UInt32)
    /// Another receiver wrote a collar's journal: this state directory is a copy of that receiver's.
    case copiedJournal(deviceID: UInt64, previousReceiverID: UInt32)
    /// Sealed frames come in at a link, and the host has no key; at most once a minute.
    case keyMissing(link: String)
    /// Sealed frames come in at a link, and no key of the host opens them; at most once a minute.
    /// `deviceID` is the collar with a key that was heard last at the address; nil if there is none: then it is another collar's frame.
    case keyRejected(link: String, deviceID: UInt64?)
    /// A frame in clear came in that names a collar with a key, or is bound to one of its logs; at most once a minute for each
    /// collar. Somebody tries to pass for the collar, or the collar has lost its key.
    case forgeryAttempted(deviceID: UInt64, link: String)
    /// The journal of a collar knows of sealed frames, and there is no key, although nobody has removed it: frames in clear are dropped;
    /// once, and for frames that are dropped at most once a minute for each collar.
    case keyLost(deviceID: UInt64)
    /// An authentic identity of a collar has a lower boot count than one before; at most once a minute for each collar. The restart can
    /// be accepted only if nothing is stored of the log.
    case restartedBelow(deviceID: UInt64, bootCount: UInt32, logID: UInt32, isStored: Bool)
    /// A collar with a key has sent many frames in a row that were received before, and nothing new; at most once a minute for each
    /// collar.
    case onlyRepeats(deviceID: UInt64)
    /// The files of the keys cannot be read or written: the keys that are known remain in use.
    case keysFailing(JournalError)
    case journalDamage(deviceID: UInt64, DamageReport)
    /// Old fixes were removed although a consumer had not taken them.
    case removedUnread(deviceID: UInt64, RemovedEntries)
    /// Old fixes cannot be removed; everything else goes on.
    case cannotRemoveOld(deviceID: UInt64, JournalError)
    /// A collar's journal cannot store: the collar gets no more acknowledgements.
    case storageFailing(deviceID: UInt64, JournalError)
    case storageRecovered(deviceID: UInt64)
    /// A collar's journal cannot be opened: the collar is not served.
    case journalUnavailable(deviceID: UInt64, JournalError)
    /// A collar's journal cannot be read back: its entries wait. Storing goes on.
    case journalUnreadable(deviceID: UInt64, JournalError)
    /// Fixes that will never come: the collar does not have them any more.
    case lost(deviceID: UInt64, first: UInt32, last: UInt32)
    /// Fixes that will not come here: a former receiver of the collar has acknowledged them.
    case deliveredElsewhere(deviceID: UInt64, first: UInt32, last: UInt32)
    /// The health of the link to a collar changed. Each kind of worsening is reported at most once a minute.
    case health(deviceID: UInt64, LinkHealth.Event)
    /// A collar that is heard has no current and accurate position. Each kind of worsening is reported at most once a minute.
    case positions(deviceID: UInt64, PositionProblem)
    /// The battery of a collar is low or almost empty; once each until it was charged.
    case battery(deviceID: UInt64, CollarMemory.BatteryWarning, percent: Int)
    /// A collar has restarted. The cause is ``CollarFault/none`` if it met no fault; nil if the collar has not told it.
    case restarted(deviceID: UInt64, cause: CollarFault?)
    /// A collar's status reports a new last error, which is not the cause of a restart that was reported.
    case fault(deviceID: UInt64, CollarFault)
    /// A collar does something that no sound collar does; at most once a minute for each collar and kind.
    case misbehaving(deviceID: UInt64, Misbehaviour)
    /// A collar that sent its identity was not accepted. Of the collars refused for one reason, at most one a minute is reported.
    case collarRefused(deviceID: UInt64, link: String, CollarRefusal)
    /// Unknown collars on this link poll more often than the host sends identity requests; at most once a minute.
    case unknownPollsIgnored(link: String)
    case requestEnded(RequestReport)
    /// The file of the requests to a collar, in the directory `path`, cannot be used: it was set aside.
    case requestsSetAside(deviceID: UInt64, path: String)
    /// The requests to a collar cannot be read, or the end of a request cannot be stored.
    case requestsFailing(deviceID: UInt64, JournalError)
    case status(deviceID: UInt64, logID: UInt32, Status)
}

/// The counters of a host since its start.
package struct HostStatistics: Equatable, Sendable {
    package var fixes = 0
    package var messages = 0
    /// Received fixes and messages that were already stored.
    package var duplicates = 0
    /// Valid frames of known collars.
    package var frames = 0
    /// Frames whose CRC fails, or that are cut or encoded wrongly.
    package var damagedFrames = 0
    /// Frames that may be intact but belong to no known collar.
    package var unknownFrames = 0
    /// Frames with a type, version or critical flag that this version does not know.
    package var unsupportedFrames = 0
    /// Sealed frames that no key of the host opens.
    package var unopenedFrames = 0
    /// Frames with a valid CRC and an impossible content.
    package var malformedFrames = 0

    package init() {}
}

/// The output of a host that its caller has not taken yet.
final class HostOutput {
    /// Notices, oldest first.
    private(set) var notices: [HostNotice] = []
    /// Frames for links, oldest first.
    var frames = OutgoingFrames()
    /// Fixes that go out without being read back from a journal.
    var freshEntries = FreshEntries()
    var statistics = HostStatistics()
    /// How long fixes and answers take.
    var latencies = LatencyMeter()
    let company = ChannelCompany()

    func report(_ notice: HostNotice) { notices.append(notice) }

    /// Moves the notices to `list`.
    func moveNotices(to list: inout [HostNotice]) {
        list += notices
        notices.removeAll(keepingCapacity: notices.count < 64)
    }
}
