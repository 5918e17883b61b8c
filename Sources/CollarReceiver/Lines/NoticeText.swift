import CollarBridge
import CollarHost
import CollarJournal
import CollarWire
import SerialDevices

extension ReceiverNotice {
    /// Whether something is in the way; the rest is information.
    public var isFailure: Bool {
        switch self {
        // A radio without a collar is no fault yet; fixes that are gone have a line of their own.
        case .host(.noIdentity): false
        case .host(.damagedFixes), .host(.lost), .unplugged(_, isAwaited: false): true
        default: errorKind != nil
        }
    }

    /// A line that says what happened.
    public var text: String {
        switch self {
        case .waitingForPort(let path): "waiting for \(path) to appear"
        case .waitingForRadio(let others):
            "no collar radio is plugged in; waiting for one (udev property COLLAR_LINK=1); "
                + (others.isEmpty ? "there is no other serial device" : "serial devices that are not marked as one:")
        case .opened(let path): "listening on \(path)"
        case .unplugged(let path, isAwaited: true): "\(path) was unplugged; waiting for it"
        case .unplugged(let path, isAwaited: false):
            "\(path) was unplugged, and is not opened again: the next terminal of that number is another one"
        case .cannotOpen(let error): error.description
        case .controlFailing(let path, let errorNumber):
            "'collar-link send' cannot reach this collar-link: \(path): \(SystemError.text(errorNumber))"
        case .host(let notice): notice.text
        }
    }

    /// What the person can do.
    public var remedy: String? {
        switch self {
        case .waitingForRadio: "name a port with --port PATH, or plug a collar radio in"
        case .cannotOpen(let error): error.remedy
        case .unplugged(_, isAwaited: false):
            "start collar-link with the new terminal, or name a symbolic link that is made anew with it"
        case .controlFailing: "give it another --state-dir, or set XDG_RUNTIME_DIR"
        case .waitingForPort, .opened, .unplugged: nil
        case .host(let notice): notice.remedy
        }
    }

    /// Lines that belong to ``text``.
    public var details: [String] { if case .waitingForRadio(let others) = self { others.map(\.text) } else { [] } }
}

extension HostNotice {
    fileprivate var text: String {
        switch self {
        case .noIdentity(let link, let seconds):
            "nobody at \(link) has said who it is for \(seconds) s; still listening"
        case .radio(let link, let radio): "\(link): base radio \(radio.text)"
        case .modem(let link, let settings): "\(link): modem set to \(settings.text)"
        case .collar(let deviceID, _, let link): "hearing \(Self.name(deviceID)) at \(link)"
        case .pairedElsewhere(let deviceID, let receiverID):
            "\(Self.name(deviceID)) belongs to receiver \(receiverID): its fixes are stored here as they are heard, and "
                + "nothing is acknowledged"
        case .copiedJournal(let deviceID, let previous):
            "the journal of \(Self.name(deviceID)) was written by receiver \(previous): the state directory was copied, "
                + "restored or moved to another disk, and this is another receiver now"
        case .journalDamage(let deviceID, let damage):
            "the journal of \(Self.name(deviceID)) is damaged: \(damage.byteCount) bytes at offset "
                + "\(damage.offset) of segment \(damage.segment) were stepped over"
        case .cannotRemoveOld(let deviceID, let error):
            "old fixes of \(Self.name(deviceID)) are kept: \(error.description)"
        case .damagedFixes(let deviceID, let logID, let first, let last):
            "\(Self.name(deviceID)) is asked again for fixes \(first) to \(last) of log \(logID)"
        case .storageFailing(let deviceID, let error):
            "nothing of \(Self.name(deviceID)) is acknowledged any more: \(error.description)"
        case .storageRecovered(let deviceID): "\(Self.name(deviceID)) is stored and acknowledged again"
        case .journalUnreadable(let deviceID, let error):
            "the lines of \(Self.name(deviceID)) wait, its journal cannot be read: \(error.description)"
        case .journalUnavailable(let deviceID, let error):
            "\(Self.name(deviceID)) is not served: \(error.description)"
        case .lost(let deviceID, let first, let last):
            "\(Self.name(deviceID)) does not have fixes \(first) to \(last) any more"
        case .deliveredElsewhere(let deviceID, let first, let last):
            "fixes \(first) to \(last) of \(Self.name(deviceID)) were delivered to another receiver; the collar does "
                + "not have them any more"
        case .health(let deviceID, let event): "\(Self.name(deviceID)) \(event.text)"
        case .misbehaving(let deviceID, let misbehaviour): "\(Self.name(deviceID)) \(misbehaviour.text)"
        case .collarRefused(let deviceID, let link, .tooManyCollars(let limit)):
            "\(Self.name(deviceID)) at \(link) is not taken up: there are journals of \(limit) collars or more"
        case .collarRefused(let deviceID, let link, .tooManyAtOnce):
            "\(Self.name(deviceID)) at \(link) is not taken up now: too many new collars at once"
        case .unknownAsksIgnored(let link):
            "unknown collars at \(link) ask too often: some are not asked who they are"
        case .commandEnded(let report):
            "\(Self.name(report.deviceID)): request \(report.requestID), \(report.request.verb.replacing("_", with: " ")): "
                + ResultLine(report, unixMilliseconds: 0).outcomeText
        case .commandsSetAside(let deviceID, let path):
            "the requests that waited for \(Self.name(deviceID)) are damaged or another receiver's, and are not sent; "
                + "their file was renamed to \(path)/requests.unusable"
        case .commandsFailing(let deviceID, let error):
            "requests to \(Self.name(deviceID)) cannot be read or stored: \(error.description)"
        case .status(let deviceID, _, _): "\(Self.name(deviceID)) tells its condition"
        }
    }

    fileprivate var remedy: String? {
        switch self {
        case .cannotRemoveOld(_, let error), .storageFailing(_, let error), .journalUnavailable(_, let error),
            .journalUnreadable(_, let error), .commandsFailing(_, let error):
            error.remedy
        case .commandsSetAside: "send again what is still wanted"
        case .noIdentity: "is it a collar radio, and is the collar switched on and in range?"
        case .copiedJournal(let deviceID, _):
            "pair the collar with this one: collar-link send pair --collar \(Self.digits(deviceID)); or go on with the other one, "
                + "where it is still there"
        case .pairedElsewhere: "receive where it belongs to (machine and --state-dir), or have it belong here: 'collar-link send pair'"
        case .health(_, .unreachable): "is it switched on, charged and in range? What it stores comes when it is heard again"
        case .health(_, .condition(.unhealthy)): "look for the animal; charge the collar, restart it near the radio"
        case .misbehaving(_, let misbehaviour): misbehaviour.remedy
        case .collarRefused(let deviceID, _, .tooManyCollars):
            "serve it alone: --collar \(Self.digits(deviceID)); or move the folders of other collars out of the state directory"
        case .collarRefused(let deviceID, _, .tooManyAtOnce):
            "it is when it asks again; to serve one collar alone: --collar \(Self.digits(deviceID))"
        case .unknownAsksIgnored: "is there a faulty or foreign collar in range? Fixes of known collars are received"
        case .health, .radio, .modem, .collar, .journalDamage, .damagedFixes, .storageRecovered, .lost, .deliveredElsewhere,
            .commandEnded, .status:
            nil
        }
    }

    private static func digits(_ deviceID: UInt64) -> String { MessageText.hexadecimal(deviceID) }

    private static func name(_ deviceID: UInt64) -> String { "collar \(digits(deviceID))" }
}

extension RadioIdentity {
    fileprivate var text: String {
        let version = firmwareVersion
        return "\(MessageText.hexadecimal(radioID)), firmware \(version.major).\(version.minor).\(version.patch), frames of up to "
            + "\(maximumFrameByteCount) bytes"
    }
}

extension ModemSettings {
    fileprivate var text: String {
        switch modulation {
        case .serial(let bitsPerSecond): "serial, \(bitsPerSecond) bit/s"
        case .lora(let lora):
            "LoRa, \(lora.frequencyHertz / 1000) kHz, bandwidth \(lora.bandwidthHertz / 1000) kHz, spreading factor "
                + "\(lora.spreadingFactor), coding rate 4/\(lora.codingRateDenominator), \(lora.powerDBm) dBm"
        }
    }
}

extension LinkHealth.Event {
    fileprivate var text: String {
        switch self {
        case .reachable(let silence?): "is heard again, after \(silence / 1_000_000) s"
        case .reachable(nil): "is heard again"
        case .late(let silence): "is late: nothing was heard of it for \(silence / 1_000_000) s"
        case .unreachable(let silence): "is not reachable: nothing was heard of it for \(silence / 1_000_000) s"
        case .condition(.healthy): "has a healthy link again"
        case .condition(.degraded): "has a degraded link: \(LinkHealth.degradedFailureCount) expected frames in a row did not come"
        case .condition(.unhealthy):
            "has an unhealthy link: \(LinkHealth.unhealthyFailureCount) expected frames in a row did not come"
        }
    }
}

extension Misbehaviour {
    fileprivate var text: String {
        switch self {
        case .otherContent(let sequence):
            "sent fix \(sequence) again with another content; what came first is kept"
        case .sequenceJump(let from, let to): "jumped from fix \(from) to fix \(to)"
        case .tooManyGaps: "leaves more gaps, or names more logs, than are kept track of; not everything is stored"
        case .tooManyLogs: "names more logs than are kept at hand; those with the fewest fixes are dropped"
        case .tooManyAsks: "asks over and over and brings nothing new; some asks are not answered"
        case .tooManyLosses: "tells of more losses than are named here; all of them are stored"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .otherContent, .sequenceJump, .tooManyGaps, .tooManyLogs:
            "its firmware is faulty, or somebody else sends in its name: see section 20 of PROTOCOL.md"
        case .tooManyAsks: "does it hear the answers? If it is near, restart it"
        case .tooManyLosses: "its memory is full or faulty; bring it near the radio so that it delivers sooner"
        }
    }
}

extension SerialDevice {
    /// The device in a line.
    public var text: String {
        var parts = [node]
        if let vendorID, let modelID { parts.append("\(vendorID):\(modelID)") }
        let names = [vendor, model].compactMap { $0 }
        if !names.isEmpty { parts.append(names.joined(separator: " ")) }
        if let serialShort { parts.append("serial \(serialShort)") }
        if let likelyRadioHint { parts.append("(\(likelyRadioHint))") }
        return parts.joined(separator: "  ")
    }
}
