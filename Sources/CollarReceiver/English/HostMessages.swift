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
        case .keysFailing(let error): error.message.about("the keys known so far stay in use")
        case .requestEnded(let report):
            UserMessage(
                "\(collarName(report.deviceID)): request \(report.requestID), \(ResultLine.words(of: report.request.verb)): "
                    + ResultLine(report, unixMilliseconds: 0).outcomeText)
        }
    }
}

extension LinkNotice {
    fileprivate func message(at link: String) -> UserMessage {
        switch self {
        case .noIdentity(let seconds, let isLineNamed):
            UserMessage(
                "no collar at \(link) has identified itself for \(seconds) s; still listening"
                    + (isLineNamed ? ", in the dialect serial, which is set" : ""),
                seconds <= 5
                    ? "Is it a collar radio, and is the collar switched on and in range?"
                        + (isLineNamed
                            ? " If the stick may have other firmware, leave out `--dialect serial`, or `dialect` in the configuration "
                                + "file: without it the firmware is found." : "")
                    : "Is the collar switched on and in range, and has its radio the same frequency, bandwidth and spreading factor?")
        case .foreignPackets(.headerByteMissing):
            UserMessage(
                "frames without their first byte come in at \(link): the RNode takes the first byte of each packet for its own, and the "
                    + "collar sends no such byte",
                "Give the collar `modem_header_bytes=1`, over a cable or over a stick at which it is heard, and restart it.")
        case .foreignPackets(.headerByteAdded):
            UserMessage(
                "frames with a byte in front come in at \(link): the collar sends it for an RNode, and this stick is none",
                "Give the collar `modem_header_bytes=0`, over a cable or over an RNode, and restart it.")
        case .foreignPackets(.unknown):
            UserMessage(
                "packets come in at \(link), and none is a frame: another program uses the channel, or a collar has another "
                    + "modem_header_bytes than the stick needs, which is 1 for an RNode and else 0",
                "If your collar is not heard, compare its settings; else choose another frequency at both ends.")
        case .unsupportedFrame:
            UserMessage(
                "a frame at \(link) has an unknown version, type or flag",
                "Use the collar-link that goes with the firmware of collar and radio.")
        case .radio(let radio): UserMessage("\(link): base radio \(radio.text)")
        case .modem(let settings): UserMessage("\(link): modem set to \(settings.text)")
        case .keyMissing:
            UserMessage(.keyMissing, "a collar at \(link) sends sealed frames, and there is no key here", ofCollar: nil)
        case .keyRejected(.some(let deviceID)):
            UserMessage(
                "sealed frames at \(link) do not open with the key of \(collarName(deviceID)), which uses their address: they refer to "
                    + "fixes that are not stored here, or another collar has the same address",
                "If this is a capture that began while the collar was sending: read it with a copy of the state directory from before "
                    + "it, `--state-dir DIR`.")
        case .keyRejected(nil):
            UserMessage(.keyRejected, "a collar at \(link) sends sealed frames that no key here opens", ofCollar: nil)
        case .unknownPollsIgnored:
            UserMessage(
                "unknown collars at \(link) poll too often: identity requests to some of them are left out",
                "Is there a faulty or foreign collar in range? Fixes of known collars are received.")
        }
    }
}

extension CollarNotice {
    fileprivate func message(of deviceID: UInt64) -> UserMessage {
        let collar = collarName(deviceID)
        return switch self {
        case .heard(_, let link, let isSealed):
            UserMessage(
                "hearing \(collar) at \(link)"
                    + (isSealed ? ", with its key" : ", in clear: without a key anybody can read it and pass for it"))
        case .pairedElsewhere(let receiverID):
            UserMessage(
                .pairedElsewhere,
                "\(collar) belongs to receiver \(receiverName(receiverID)): its fixes are stored here as they are heard, "
                    + "and nothing is acknowledged",
                ofCollar: deviceID)
        case .copiedJournal(let previous):
            UserMessage(
                "the journal of \(collar) was written by receiver \(receiverName(previous)): the state directory was copied, "
                    + "restored or moved to another disk, and this is another receiver now",
                running: .send("pair", to: deviceID)
            ) {
                "Pair the collar with this one: press its button twice, or switch it off and on, and run \($0) within a minute. Or go on "
                    + "with the other one, where it still exists."
            }
        case .forgeryAttempted(let link):
            UserMessage(
                "frames in clear at \(link) name \(collar), which has a key: they are dropped. Somebody tries to pass "
                    + "for the collar, or the collar has lost its key",
                running: ShellCommand("collar-link", "key", "remove", MessageDescription.hexadecimal(deviceID))
            ) { "If the collar has no key any more: \($0)." }
        case .keyLost:
            UserMessage(
                .keyLost,
                "\(collar) had a key, and the key is gone: frames in clear that name this collar are dropped, because anybody "
                    + "could have sent them",
                ofCollar: deviceID)
        case .onlyRepeats:
            UserMessage(
                "\(collar) sends only frames that were received before: they are dropped. Somebody repeats old frames, or the "
                    + "collar has forgotten how many it sent: a simulated collar with a key needs a memory, `--flash FILE`")
        case .restartedBelow(let bootCount, let logID, isStored: true):
            UserMessage(
                "\(collar), log \(logID), counts \(bootCount) boots, fewer than before: it is not listened to. Somebody repeats "
                    + "old frames: a collar whose memory was erased has a new log, and this one is stored here")
        case .restartedBelow(let bootCount, let logID, isStored: false):
            UserMessage(
                "\(collar), log \(logID), counts \(bootCount) boots, fewer than before: it is not listened to. Somebody repeats "
                    + "old frames, or the memory of the collar was erased",
                running: ShellCommand("collar-link", "key", "accept-restart", MessageDescription.hexadecimal(deviceID), "\(logID)")
            ) { "If its memory was erased: \($0)." }
        case .journalDamage(let damage):
            UserMessage(
                "the journal of \(collar) is damaged: \(damage.byteCount) bytes at offset \(damage.offset) of segment "
                    + "\(damage.segment) were stepped over")
        case .removedUnread(let removed):
            UserMessage(
                "\(removed.unreadCount) old fixes of \(collar) were removed that "
                    + (removed.readers.isEmpty
                        ? "were never written out" : "\(removed.readers.map { "'\($0.text)'" }.joined(separator: ", ")) had not taken"),
                "Start the reader, or remove it with `collar-link readers --remove NAME`; `--keep-at-most` says how long it is waited for.")
        case .cannotRemoveOld(let error):
            error.message.about("old fixes of \(collar) are kept")
        case .damagedFixes(let logID, let first, let last):
            UserMessage("\(collar) is asked again for fixes \(first) to \(last) of log \(logID)")
        case .storageFailing(let error):
            error.message.about("nothing of \(collar) is acknowledged any more")
        case .storageRecovered: UserMessage("\(collar) is stored and acknowledged again")
        case .journalUnreadable(let error):
            error.message.about("the lines of \(collar) wait, its journal cannot be read")
        case .journalUnavailable(let error):
            error.message.about("\(collar) is not served")
        case .lost(let first, let last):
            UserMessage("\(collar) does not have fixes \(first) to \(last) any more")
        case .deliveredElsewhere(let first, let last):
            UserMessage(
                "fixes \(first) to \(last) of \(collar) were delivered to another receiver; the collar does not have "
                    + "them any more")
        case .health(let event): event.message(of: collar)
        case .positions(let problem): problem.message(of: deviceID)
        case .battery(let warning, let percent): warning.message(of: collar, percent: percent)
        case .restarted(nil): UserMessage("\(collar) has restarted; it has not told why")
        case .restarted(CollarFault.none?):
            UserMessage("\(collar) has restarted without a fault: it was switched on or reset, or was told to")
        case .restarted(let fault?), .fault(let fault): fault.message(of: deviceID)
        case .misbehaving(let misbehaviour): misbehaviour.message(of: collar)
        case .refused(let link, .tooManyCollars(let limit)):
            UserMessage(
                "\(collar) at \(link) is not accepted: the limit of \(limit) journals is reached",
                "Serve it alone: `--collar \(MessageDescription.hexadecimal(deviceID))`. Or move the folders of other collars out "
                    + "of the state directory.")
        case .refused(let link, .tooManyAtOnce):
            UserMessage(
                "\(collar) at \(link) is not accepted now: too many new collars at once",
                "It is when it polls again. To serve it alone: `--collar \(MessageDescription.hexadecimal(deviceID))`.")
        case .requestsSetAside(let path):
            UserMessage(
                "the requests that waited for \(collar) are damaged or another receiver's, and are not sent; "
                    + "their file was renamed to \(path)/requests.unusable",
                "Send again what is still wanted.")
        case .requestsFailing(let error):
            error.message.about("requests to \(collar) cannot be read or stored")
        case .status(_, let status):
            UserMessage("\(collar) reports its status; battery \(status.batteryPercent.map { "\($0) %" } ?? "unknown")")
        }
    }
}

extension RadioIdentity {
    fileprivate var text: String {
        let version = firmwareVersion
        return "\(MessageDescription.hexadecimal(radioID)), firmware \(version.major).\(version.minor).\(version.patch), "
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

extension RequestRefusal: MessageError {
    package var message: UserMessage {
        let (code, reason): (ErrorCode, String) =
            switch self {
            case .unknownCollar(let deviceID, let known):
                (.unknownCollar, "\(collarName(deviceID)) was never heard here; known: \(known.isEmpty ? "none" : list(known))")
            case .noCollar: (.noCollar, "no collar was ever heard here")
            case .whichCollar(let known): (.whichCollar, "which collar? There are \(list(known))")
            case .pairedElsewhere:
                (.pairedElsewhere, "the collar belongs to another receiver: it must be paired with this one first")
            case .notPaired(let deviceID): (.notPaired, "\(collarName(deviceID)) belongs to nobody: it must be paired first")
            case .noRadio: (.noRadio, "no radio is open")
            case .noContact: (.noContact, "the collar is not heard now")
            case .queueFull: (.queueFull, "too many requests to the collar wait")
            case .noVersion: (.noVersion, "the collar's settings have the highest version there is")
            case .unknownRequest(_, let requestID):
                (.unknownRequest, "request \(requestID) is not known, or ended long ago")
            case .storage(_, let error): (.storageFailing, error.message.reason)
            }
        return UserMessage(code, reason, code.requestRemedy)
    }

    private func list(_ collars: [UInt64]) -> String {
        collars.map { MessageDescription.hexadecimal($0) }.joined(separator: ", ")
    }
}
