import CollarDomain
import CollarJournal
import CollarReceiver
import CollarWire
import Glibc
import SerialDevices

extension CommandFailure {
    /// What ends `run`.
    init(_ error: ReceiverError) {
        switch error {
        case .port(let failure):
            self.init(failure.exitCode, failure.description, remedy: failure.remedy)
        case .noDevice(let text):
            self.init(.noDevice, text, remedy: "plug one in, or leave out --no-reconnect to wait for it")
        case .discovery(let failure):
            self.init(.inputOutput, failure.description, remedy: failure.remedy)
        case .journal(let failure):
            self.init(failure.exitCode, failure.description, remedy: failure.remedy)
        case .unknownFix(let fix):
            self.init(
                .noInput, "--since: there is no fix \(fix.sequence) of log \(fix.logID) of collar \(hexadecimal(fix.deviceID)) "
                    + "in the state directory",
                remedy: "begin with a time (--since 2h) or with all there is (--from-start)")
        case .output(let errorNumber):
            self.init(.inputOutput, "stdout cannot be written: \(SystemText.of(errorNumber))")
        case .system(let operation, let errorNumber):
            self.init(.software, "\(operation): \(SystemText.of(errorNumber))")
        }
    }
}

extension SerialPortError {
    /// The exit code that tells a script what to do about it.
    var exitCode: ExitCode {
        switch self {
        case .notFound, .disconnected: .noDevice
        case .notATerminal: .configuration
        case .busy: .portBusy
        case .permissionDenied: .noPermission
        case .system: .inputOutput
        }
    }
}

extension JournalError {
    /// The exit code that tells a script what to do about it.
    var exitCode: ExitCode {
        switch self {
        case .heldBy: .portBusy
        case .laterFormat, .foreignSegment, .unreadableReceiver: .configuration
        case .file(let failure): failure.errorNumber == EACCES || failure.errorNumber == EPERM ? .noPermission : .cannotCreate
        case .stopped, .unencodable, .pendingLimitReached, .trackingLimitReached: .inputOutput
        }
    }
}

extension ReceiverStatistics {
    /// The counts in a line.
    var text: String {
        "\(fixes) fixes stored, \(lines) lines written, \(duplicates) duplicates; frames: \(frames) used, "
            + "\(damagedFrames) damaged, \(unknownFrames) of unknown collars, \(unsupportedFrames) unsupported, "
            + "\(malformedFrames) malformed"
    }
}

extension ReceiverNotice {
    /// Whether something stands in the way; the rest is information.
    var isFailure: Bool {
        switch self {
        case .cannotOpen, .otherVersion, .copiedJournal, .journalDamage, .damagedFixes, .cannotRemoveOld, .storageFailing,
            .journalUnavailable, .journalUnreadable, .lost, .pairedElsewhere, .misbehaving, .collarRefused, .unknownAsksIgnored,
            .health(_, .unreachable), .health(_, .condition(.unhealthy)), .requestsSetAside, .requestsFailing, .controlFailing:
            true
        case .waitingForPort, .waitingForRadio, .opened, .unplugged, .noIdentity, .radio, .modem, .collar, .storageRecovered,
            .deliveredElsewhere, .health, .requestEnded:
            false
        }
    }

    /// One or more lines that say what happened.
    var text: String {
        switch self {
        case .waitingForPort(let path): "waiting for \(path) to appear"
        case .waitingForRadio(let others): Self.waitingText(others)
        case .opened(let path): "listening on \(path)"
        case .unplugged(let path): "\(path) was unplugged; waiting for it"
        case .cannotOpen(let error): error.description
        case .noIdentity(let path, let seconds):
            "nobody at \(path) has said who it is for \(seconds) s; still listening"
        case .otherVersion(let path, let version):
            "\(path): what is there speaks version \(version) of the protocol"
        case .radio(let path, let radio): "\(path): base radio \(radio.text)"
        case .modem(let path, let settings): "\(path): modem set to \(settings.text)"
        case .collar(let deviceID, _, let path): "hearing collar \(hexadecimal(deviceID)) at \(path)"
        case .pairedElsewhere(let deviceID, let receiverID):
            "collar \(hexadecimal(deviceID)) belongs to receiver \(receiverID): its fixes are stored here as they are heard, and "
                + "nothing is acknowledged"
        case .copiedJournal(let deviceID, let previous):
            "the journal of collar \(hexadecimal(deviceID)) was written by receiver \(previous): the state directory was copied, "
                + "restored or moved to another disk, and this is another receiver now"
        case .journalDamage(let deviceID, let damage):
            "the journal of collar \(hexadecimal(deviceID)) is damaged: \(damage.byteCount) bytes at offset "
                + "\(damage.offset) of segment \(damage.segment) were stepped over"
        case .cannotRemoveOld(let deviceID, let error):
            "old fixes of collar \(hexadecimal(deviceID)) are kept: \(error.description)"
        case .damagedFixes(let deviceID, let logID, let first, let last):
            "collar \(hexadecimal(deviceID)) is asked again for fixes \(first) to \(last) of log \(logID)"
        case .storageFailing(let deviceID, let error):
            "nothing of collar \(hexadecimal(deviceID)) is acknowledged any more: \(error.description)"
        case .storageRecovered(let deviceID): "collar \(hexadecimal(deviceID)) is stored and acknowledged again"
        case .journalUnreadable(let deviceID, let error):
            "the lines of collar \(hexadecimal(deviceID)) wait, its journal cannot be read: \(error.description)"
        case .journalUnavailable(let deviceID, let error):
            "collar \(hexadecimal(deviceID)) is not served: \(error.description)"
        case .lost(let deviceID, let first, let last):
            "collar \(hexadecimal(deviceID)) does not have fixes \(first) to \(last) any more"
        case .deliveredElsewhere(let deviceID, let first, let last):
            "fixes \(first) to \(last) of collar \(hexadecimal(deviceID)) were delivered to another receiver; the collar does "
                + "not have them any more"
        case .health(let deviceID, let event): "collar \(hexadecimal(deviceID)) \(event.text)"
        case .misbehaving(let deviceID, let misbehaviour): "collar \(hexadecimal(deviceID)) \(misbehaviour.text)"
        case .collarRefused(let deviceID, let path, .tooManyCollars(let limit)):
            "collar \(hexadecimal(deviceID)) at \(path) is not taken up: there are journals of \(limit) collars or more"
        case .collarRefused(let deviceID, let path, .tooManyAtOnce):
            "collar \(hexadecimal(deviceID)) at \(path) is not taken up now: too many new collars at once"
        case .unknownAsksIgnored(let path):
            "unknown collars at \(path) ask too often: some are not asked who they are"
        case .requestEnded(let line):
            "\(line.subject): request \(line.requestID ?? 0), \((line.verb ?? "").replacing("_", with: " ")): \(line.outcomeText)"
        case .requestsSetAside(let deviceID, let path):
            "the requests that waited for collar \(hexadecimal(deviceID)) are damaged or another receiver's, and are not sent; "
                + "their file was renamed to \(path)/requests.unusable"
        case .requestsFailing(let deviceID, let error):
            "requests to collar \(hexadecimal(deviceID)) cannot be read or stored: \(error.description)"
        case .controlFailing(let path, let errorNumber):
            "'collar-link send' cannot reach this collar-link: \(path): \(SystemText.of(errorNumber))"
        }
    }

    /// What the person can do.
    var remedy: String? {
        switch self {
        case .cannotOpen(let error): error.remedy
        case .cannotRemoveOld(_, let error), .storageFailing(_, let error), .journalUnavailable(_, let error),
            .journalUnreadable(_, let error), .requestsFailing(_, let error):
            error.remedy
        case .requestsSetAside: "send again what is still wanted"
        case .noIdentity: "is it a collar radio, and is the collar switched on and in range?"
        case .waitingForRadio: "name a port with --port PATH, or plug a collar radio in"
        case .copiedJournal(let deviceID, _):
            "pair the collar with this one: collar-link send pair --collar \(hexadecimal(deviceID)); or go on with the other one, where "
                + "it is still there"
        case .pairedElsewhere: "receive where it belongs to (machine and --state-dir), or have it belong here: 'collar-link send pair'"
        case .health(_, .unreachable): "is it switched on, charged and in range? What it stores comes when it is heard again"
        case .health(_, .condition(.unhealthy)): "look for the animal; charge the collar, restart it near the radio"
        case .health: nil
        case .misbehaving(_, let misbehaviour): misbehaviour.remedy
        case .collarRefused(let deviceID, _, .tooManyCollars):
            "serve it alone: --collar \(hexadecimal(deviceID)); or move the folders of other collars out of the state directory"
        case .collarRefused(let deviceID, _, .tooManyAtOnce):
            "it is when it asks again; to serve one collar alone: --collar \(hexadecimal(deviceID))"
        case .unknownAsksIgnored: "is there a faulty or foreign collar in range? Fixes of known collars are received"
        case .waitingForPort, .opened, .unplugged, .otherVersion, .radio, .modem, .collar, .journalDamage, .damagedFixes,
            .storageRecovered, .lost, .deliveredElsewhere, .requestEnded:
            nil
        case .controlFailing: "give it another --state-dir, or set XDG_RUNTIME_DIR"
        }
    }

    private static func waitingText(_ others: [SerialDevice]) -> String {
        var text = "no collar radio is plugged in; waiting for one (udev property COLLAR_LINK=1)"
        text += others.isEmpty ? "; there is no other serial device" : "; serial devices that are not marked as one:"
        for device in others { text += "\n  " + device.text }
        return text
    }
}

extension RadioIdentity {
    /// The radio in a line.
    var text: String {
        let version = firmwareVersion
        return "\(hexadecimal(radioID)), firmware \(version.major).\(version.minor).\(version.patch), frames of up to "
            + "\(maximumFrameByteCount) bytes"
    }
}

extension ModemSettings {
    /// The settings in a line.
    var text: String {
        switch modulation {
        case .serial(let bitsPerSecond): "serial, \(bitsPerSecond) bit/s"
        case .lora(let lora):
            "LoRa, \(lora.frequencyHertz / 1000) kHz, bandwidth \(lora.bandwidthHertz / 1000) kHz, spreading factor "
                + "\(lora.spreadingFactor), coding rate 4/\(lora.codingRateDenominator), \(lora.powerDBm) dBm"
        }
    }
}

extension LinkHealth.Event {
    /// What changed, behind the collar's id.
    var text: String {
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
    /// What the collar does, behind its id.
    var text: String {
        switch self {
        case .otherContent(let sequence):
            "sent fix \(sequence) again with another content; what came first is kept"
        case .sequenceJump(let from, let to): "jumped from fix \(from) to fix \(to)"
        case .tooManyGaps: "leaves more gaps, or names more logs, than are kept track of; not everything is stored"
        case .tooManyLogs: "names more logs than are kept at hand; those not heard for longest are let go"
        case .tooManyAsks: "asks over and over and brings nothing new; some asks are not answered"
        case .tooManyLosses: "tells of more losses than are named here; all of them are stored"
        }
    }

    /// What the person can do.
    var remedy: String {
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
    var text: String {
        var parts = [node]
        if let vendorID, let modelID { parts.append("\(vendorID):\(modelID)") }
        let names = [vendor, model].compactMap { $0 }
        if !names.isEmpty { parts.append(names.joined(separator: " ")) }
        if let serialShort { parts.append("serial \(serialShort)") }
        if let likelyRadioHint { parts.append("(\(likelyRadioHint))") }
        return parts.joined(separator: "  ")
    }
}

/// An id as 16 hexadecimal digits.
func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
