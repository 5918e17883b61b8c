import CollarJournal
import CollarWire

/// An event that a host reports to a person or a program. Entries are not notices. No notice ends the host.
///
/// A link has the name that was given to ``Host/addLink(named:)``.
package enum HostNotice: Equatable, Sendable {
    case link(String, LinkNotice)
    case collar(DeviceID, CollarNotice)
    /// The files of the keys cannot be read or written: the keys that are known remain in use.
    case keysFailing(JournalError)
    case requestEnded(RequestReport)

    /// The link that the notice is about; nil if it is not about one.
    package var link: String? {
        switch self {
        case .link(let link, _), .collar(_, .forgeryAttempted(let link)), .collar(_, .refused(let link, _)): link
        case .collar, .keysFailing, .requestEnded: nil
        }
    }

    /// The collar that the notice is about; nil if it is not about one.
    package var deviceID: DeviceID? { if case .collar(let deviceID, _) = self { deviceID } else { nil } }
}

package enum LinkNotice: Equatable, Sendable {
    /// No known collar was heard within this many microseconds after the opening. `isLineNamed` tells that a person has said that the link is
    /// a serial line.
    case noIdentity(microseconds: Int64, isLineNamed: Bool = false)
    /// The packets that come in are no frames; no known collar was heard there.
    case foreignPackets(ForeignPacketKind)
    /// A whole frame has a version, type or critical flag that this host does not know; at most once a minute.
    case unsupportedFrame
    case radio(RadioIdentity)
    case modem(ModemSettings)
    /// Sealed frames come in, and the host has no key; at most once a minute.
    case keyMissing
    /// Sealed frames come in, and no key of the host opens them; at most once a minute.
    /// `deviceID` is the collar with a key that was heard last at the address; nil if there is none: then it is another collar's frame.
    case keyRejected(deviceID: DeviceID?)
    /// Unknown collars poll more often than the host sends identity requests; at most once a minute.
    case unknownPollsIgnored
}

package enum CollarNotice: Equatable, Sendable {
    /// It is heard for the first time in this run, with sealed frames or in clear.
    case heard(logID: LogID, link: String, isSealed: Bool)
    /// It belongs to another receiver: the host stores its fixes and does not answer it.
    case pairedElsewhere(receiverID: UInt32)
    /// Stored fixes are damaged: the collar is asked for them again.
    case damagedFixes(logID: LogID, first: UInt32, last: UInt32)
    /// Another receiver wrote its journal: this state directory is a copy of that receiver's.
    case copiedJournal(previousReceiverID: UInt32)
    /// It has a key, and a frame in clear came in that names it, or is bound to one of its logs; at most once a minute. Somebody tries to
    /// pass for the collar, or the collar has lost its key.
    case forgeryAttempted(link: String)
    /// Its journal knows of sealed frames, and there is no key, although nobody has removed it: frames in clear are dropped;
    /// once, and for frames that are dropped at most once a minute.
    case keyLost
    /// An authentic identity has a lower boot count than one before; at most once a minute. The restart can be accepted only if nothing is
    /// stored of the log.
    case restartedBelow(bootCount: UInt32, logID: LogID, isStored: Bool)
    /// It has a key, and has sent many frames in a row that were received before, and nothing new; at most once a minute.
    case onlyRepeats
    case journalDamage(DamageReport)
    /// Old fixes were removed although a consumer had not taken them.
    case removedUnread(RemovedEntries)
    /// Old fixes cannot be removed; everything else goes on.
    case cannotRemoveOld(JournalError)
    /// Its journal cannot store: the collar gets no more acknowledgements.
    case storageFailing(JournalError)
    case storageRecovered
    /// Its journal cannot be opened: the collar is not served.
    case journalUnavailable(JournalError)
    /// Its journal cannot be read back: its entries wait. Storing goes on.
    case journalUnreadable(JournalError)
    /// Fixes that will never come: the collar does not have them any more.
    case lost(first: UInt32, last: UInt32)
    /// Fixes that will not come here: a former receiver of the collar has acknowledged them.
    case deliveredElsewhere(first: UInt32, last: UInt32)
    /// The health of its link changed. Each kind of worsening is reported at most once a minute.
    case health(LinkHealth.Event)
    /// It is heard, and has no current and accurate position. Each kind of worsening is reported at most once a minute.
    case positions(PositionProblem)
    /// Its battery is low or almost empty; once each until it was charged.
    case battery(CollarMemory.BatteryWarning, percent: Int)
    /// It has restarted. The cause is ``CollarFault/none`` if it met no fault; nil if the collar has not told it.
    case restarted(cause: CollarFault?)
    /// Its status reports a new last error, which is not the cause of a restart that was reported.
    case fault(CollarFault)
    /// It does something that no sound collar does; at most once a minute for each kind.
    case misbehaving(Misbehaviour)
    /// It sent its identity, and was not accepted. Of the collars refused for one reason, at most one a minute is reported.
    case refused(link: String, CollarRefusal)
    /// The file of the requests to it, in the directory `path`, cannot be used: it was set aside.
    case requestsSetAside(path: String)
    /// The requests to it cannot be read, or the end of a request cannot be stored.
    case requestsFailing(JournalError)
    case status(logID: LogID, Status)
    /// It told how it spends its battery.
    case power(logID: LogID, PowerReport)
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

    func moveNotices(to list: inout [HostNotice]) {
        list += notices
        notices.removeAll(keepingCapacity: notices.count < 64)
    }
}
