import CollarErrors
import CollarFormats
import CollarHost
import CollarWire

extension HostNotice {
    /// The message, whose code the receiver adds.
    var message: UserMessage {
        switch self {
        case .link(let link, let notice): notice.message(at: link)
        case .collar(let deviceID, let notice): notice.message(of: deviceID)
        case .keysFailing(let error): error.message.about("The keys known so far stay in use")
        case .requestEnded(let report):
            UserMessage(
                "Request \(report.requestID) (\(ResultLine.words(of: report.request.verb))) to \(collarName(report.deviceID)) has ended: "
                    + ResultLine(report, unixMilliseconds: 0).outcomeText + ".")
        }
    }
}

extension LinkNotice {
    fileprivate func message(at link: String) -> UserMessage {
        switch self {
        case .noIdentity(let silence, let isLineNamed):
            UserMessage(
                "No collar at \(link) has identified itself for \(silence / 1_000_000) s\(isLineNamed ? "; the dialect is set to serial" : "").",
                silence < 6_000_000
                    ? "Is it a collar radio, and is the collar switched on and in range?"
                        + (isLineNamed
                            ? " If the stick may have other firmware, leave out `--dialect serial`, or `dialect` in the configuration "
                                + "file: without it the firmware is found." : "")
                    : "Is the collar switched on and in range, and has its radio the same frequency, bandwidth and spreading factor?")
        case .foreignPackets(.headerByteMissing):
            UserMessage(
                "Frames without their first byte come in at \(link): the RNode takes the first byte of each packet for its own, and the "
                    + "collar sends no such byte.",
                "Give the collar `modem_header_bytes=1`, over a cable or over a stick at which it is heard, and restart it.")
        case .foreignPackets(.headerByteAdded):
            UserMessage(
                "Frames with a byte in front come in at \(link): the collar sends it for an RNode, and this stick is none.",
                "Give the collar `modem_header_bytes=0`, over a cable or over an RNode, and restart it.")
        case .foreignPackets(.unknown):
            UserMessage(
                "Packets come in at \(link), and none is a frame: another program uses the channel, or a collar has another "
                    + "modem_header_bytes than the stick needs, which is 1 for an RNode and else 0.",
                "If your collar is not heard, compare its settings; else choose another frequency at both ends.")
        case .unsupportedFrame:
            UserMessage(
                "A frame at \(link) has an unknown version, type or flag.",
                "Use the collar-link that goes with the firmware of collar and radio.")
        case .radio(let radio): UserMessage("The base radio at \(link) is \(radio.text).")
        case .modem(let settings): UserMessage("The modem at \(link) is set to \(settings.text).")
        case .keyMissing:
            UserMessage(.keyMissing, "A collar at \(link) sends sealed frames, and there is no key here.", ofCollar: nil)
        case .keyRejected(.some(let deviceID)):
            UserMessage(
                "Sealed frames at \(link) do not open with the key of \(collarName(deviceID)), which uses their address: they refer to "
                    + "fixes that are not stored here, or another collar has the same address.",
                "If this is a capture that began while the collar was sending: read it with a copy of the state directory from before "
                    + "it, `--state-dir DIR`.")
        case .keyRejected(nil):
            UserMessage(.keyRejected, "A collar at \(link) sends sealed frames that no key here opens.", ofCollar: nil)
        case .unknownPollsIgnored:
            UserMessage(
                "Unknown collars at \(link) poll too often: identity requests to some of them are left out.",
                "Is there a faulty or foreign collar in range? Fixes of known collars are received.")
        }
    }
}

extension CollarNotice {
    fileprivate func message(of deviceID: DeviceID) -> UserMessage {
        let (collar, subject) = (collarName(deviceID), collarSubject(deviceID))
        return switch self {
        case .heard(_, let link, let isSealed):
            UserMessage(
                "\(subject) is heard at \(link), "
                    + (isSealed ? "with its key." : "in clear: without a key anybody can read it and pass for it."))
        case .pairedElsewhere(let receiverID):
            UserMessage(
                .pairedElsewhere,
                "\(subject) belongs to receiver \(receiverName(receiverID)): its fixes are stored here as they are heard, "
                    + "and nothing is acknowledged.",
                ofCollar: deviceID)
        case .copiedJournal(let previous):
            UserMessage(
                "The journal of \(collar) was written by receiver \(receiverName(previous)): the state directory was copied, "
                    + "restored or moved to another disk, and this is another receiver now.",
                running: .send("pair", to: deviceID)
            ) {
                "Pair the collar with this one: press its button twice, or switch it off and on, and run \($0) within a minute. Or go on "
                    + "with the other one, where it still exists."
            }
        case .forgeryAttempted(let link):
            UserMessage(
                "Frames in clear at \(link) name \(collar), which has a key: they are dropped. Somebody tries to pass "
                    + "for the collar, or the collar has lost its key.",
                running: ShellCommand("collar-link", "key", "remove", "\(deviceID)")
            ) { "If the collar has no key any more: \($0)." }
        case .keyLost:
            UserMessage(
                .keyLost,
                "\(subject) had a key, and the key is gone: frames in clear that name this collar are dropped, because anybody "
                    + "could have sent them.",
                ofCollar: deviceID)
        case .onlyRepeats:
            UserMessage(
                "\(subject) sends only frames that were received before: they are dropped. Somebody repeats old frames, or the "
                    + "collar has forgotten how many it sent: a simulated collar with a key needs a memory, `--flash FILE`.")
        case .restartedBelow(let bootCount, let logID, isStored: true):
            UserMessage(
                "\(subject), log \(logID), counts \(bootCount) boots, fewer than before: it is not listened to. Somebody repeats "
                    + "old frames: a collar whose memory was erased has a new log, and this one is stored here.")
        case .restartedBelow(let bootCount, let logID, isStored: false):
            UserMessage(
                "\(subject), log \(logID), counts \(bootCount) boots, fewer than before: it is not listened to. Somebody repeats "
                    + "old frames, or the memory of the collar was erased.",
                running: ShellCommand("collar-link", "key", "accept-restart", "\(deviceID)", "\(logID)")
            ) { "If its memory was erased: \($0)." }
        case .journalDamage(let damage):
            UserMessage(
                "The journal of \(collar) is damaged: \(damage.byteCount) bytes at offset \(damage.offset) of segment "
                    + "\(damage.segment) were stepped over.")
        case .removedUnread(let removed):
            UserMessage(
                "\(removed.unreadCount) old fixes of \(collar) were removed that "
                    + (removed.readers.isEmpty
                        ? "were never written out." : "\(removed.readers.map { "'\($0.text)'" }.joined(separator: ", ")) had not taken."),
                "Start the reader, or remove it with `collar-link readers --remove NAME`; `--keep-at-most` says how long it is waited for.")
        case .cannotRemoveOld(let error):
            error.message.about("Old fixes of \(collar) are kept")
        case .damagedFixes(let logID, let first, let last):
            UserMessage("\(subject) is asked again for fixes \(first) to \(last) of log \(logID).")
        case .storageFailing(let error):
            error.message.about("Nothing of \(collar) is acknowledged any more")
        case .storageRecovered: UserMessage("The fixes of \(collar) are stored and acknowledged again.")
        case .journalUnreadable(let error):
            error.message.about("The lines of \(collar) are held back")
        case .journalUnavailable(let error):
            error.message.about("\(subject) is not served")
        case .lost(let first, let last):
            UserMessage("\(subject) does not have fixes \(first) to \(last) any more.")
        case .deliveredElsewhere(let first, let last):
            UserMessage(
                "Fixes \(first) to \(last) of \(collar) were delivered to another receiver; the collar does not have "
                    + "them any more.")
        case .health(let event): event.message(of: subject)
        case .positions(let problem): problem.message(of: deviceID)
        case .battery(let warning, let percent): warning.message(of: collar, percent: percent)
        case .restarted(nil): UserMessage("\(subject) has restarted; it has not told why.")
        case .restarted(CollarFault.none?):
            UserMessage("\(subject) has restarted without a fault: it was switched on or reset, or was told to.")
        case .restarted(let fault?), .fault(let fault): fault.message(of: deviceID)
        case .misbehaving(let misbehaviour): misbehaviour.message(of: subject)
        case .refused(let link, .tooManyCollars(let limit)):
            UserMessage(
                "\(subject) at \(link) is not accepted: the limit of \(limit) journals is reached.",
                "Serve it alone: `--collar \(deviceID)`. Or move the folders of other collars out "
                    + "of the state directory.")
        case .refused(let link, .tooManyAtOnce):
            UserMessage(
                "\(subject) at \(link) is not accepted now: too many new collars came at once.",
                "It is accepted when it polls again. To serve it alone: `--collar \(deviceID)`.")
        case .requestsSetAside(let path):
            UserMessage(
                "The requests that waited for \(collar) are damaged or another receiver's, and are not sent; "
                    + "their file was renamed to \(path)/requests.unusable.",
                "Send again what is still wanted.")
        case .requestsFailing(let error):
            error.message.about("Requests to \(collar) cannot be read or stored")
        case .status(_, let status):
            UserMessage("\(subject) reports its status; the charge of its battery is \(status.batteryPercent.map { "\($0) %" } ?? "unknown").")
        case .power(_, let report):
            UserMessage(
                "\(subject) reports how it spends its battery: its GNSS receiver was on for \(report.gnssSeconds) s of the last "
                    + "\(report.uptimeSeconds) s.")
        }
    }
}

extension RadioIdentity {
    fileprivate var text: String {
        let version = firmwareVersion
        return "\(MessageDescription.hexadecimal(radioID)), with firmware \(version.major).\(version.minor).\(version.patch) and "
            + "frames of up to \(maximumFrameByteCount) bytes"
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
