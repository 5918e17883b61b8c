import CollarErrors
import CollarJournal
import CollarWire
import Glibc
import LinuxSystem

extension JournalError: MessageError {
    package var message: UserMessage {
        switch self {
        case .file(let failure): failure.message
        case .heldBy(let processID, let path):
            UserMessage(
                .stateInUse, "\(path) is in use by \(processID.map { "process \($0)" } ?? "another process").",
                "Stop the other collar-link, or give this one its own `--state-dir`.")
        case .readerInUse(let name, let processID):
            UserMessage(
                .stateInUse, "\(processID.map { "Process \($0)" } ?? "Another process") reads as '\(name.text)' already.",
                "Stop it, or read under another name.")
        case .stopped(let failure):
            UserMessage(
                .storageFailing, "The journal has stopped: \(failure.message.reason.asClause)",
                "Nothing further is acknowledged; the collar keeps it. \(failure.message.remedy ?? "Check the disk (`sudo dmesg`).") "
                    + "Then restart collar-link.")
        case .unencodable(let failure): UserMessage(.storageFailing, failure.reason, "This is a fault of collar-link: report it.")
        case .pendingLimitReached:
            UserMessage(
                .storageFailing, "The journal cannot take more until the disk does.",
                "Make room on the disk that holds the state directory.")
        case .trackingLimitReached:
            UserMessage(.storageFailing, "The collar's logs have more gaps than can be tracked.", JournalError.faultyCollar)
        case .logLimitReached:
            UserMessage(.storageFailing, "The collar has more logs than can be tracked.", JournalError.faultyCollar)
        case .sizeLimitReached(let limit, let path):
            UserMessage(
                .storageFailing, "The journal in \(path) has the \(limit) bytes that it may have.",
                "Give it more with `--max-size`, or have old fixes removed with `--keep`.")
        case .laterFormat(let version, let path):
            UserMessage(
                .stateUnusable, "\(path) has format \(version), which this version cannot read.",
                "Use the collar-link that wrote it, or a later one.")
        case .foreignSegment(let path):
            UserMessage(.stateUnusable, "\(path) belongs to another collar.", "Move \(path) to the directory of its collar.")
        case .openToStrangers(.owner(let userID), let path):
            UserMessage(
                .stateUnusable, "\(path) belongs to another user (\(userID)), who could change what is stored in it.",
                "Run collar-link as that user, or choose another `--state-dir`.")
        case .openToStrangers(.others, let path):
            UserMessage(
                .stateUnusable, "Other users may write to \(path), and could change what is stored in it.",
                running: ShellCommand("chmod", "go-w", path)
            ) { "Run \($0); where others must write to it, choose another `--state-dir`." }
        case .unreadableReceiver(let path):
            UserMessage(
                .stateUnusable, "\(path) does not hold a receiver's identity.",
                "Restore \(path) from a backup, or remove it to become a new receiver (collars must be paired again).")
        case .unreadableReader(let path):
            UserMessage(
                .readerUnusable, "\(path) does not hold the position of a reader.",
                "Remove the reader: `collar-link readers --remove NAME`. The next one of its name gets everything again.")
        case .readerDenied(let path, let owner):
            UserMessage(
                .permissionDenied, "\(path) belongs to user \(UserDatabase.userName(owner)), and this user has no permission to use it.",
                "Read as that user, or under another name. If nobody reads under this name, remove the file: "
                    + "`\(ShellCommand("sudo", "rm", path).text)`.")
        case .readerReplaced(let path):
            UserMessage(
                .readerUnusable, "\(path) was removed or replaced while the reader ran: the state directory was restored or removed.",
                "Start the reader again: it goes on at the position that is stored there now.")
        case .unreadableKey(let path):
            UserMessage(
                .keyUnusable, "\(path) does not hold a key of 32 hexadecimal digits.",
                "Restore \(path) from a backup, or give the key again: `collar-link key add ID FILE`.")
        case .misnamedKey(let path, let name):
            UserMessage(
                .keyUnusable, "The name of the key file \(path) has capitals, so its key is not used.", "Rename it to \(name).")
        case .retired(let receiverID, let path):
            UserMessage(
                .stateUnusable, "Receiver \(receiverName(receiverID)) has moved away from \(path).",
                "Run collar-link where it was imported. `collar-link receiver import` brings it back; to become a new receiver "
                    + "here remove \(path) (collars must be paired again).")
        case .noReceiver(let path):
            UserMessage(
                .noReceiver, "There is no receiver in \(path).",
                "Name the directory that `collar-link run` uses: `--state-dir DIR`.")
        case .otherReceiver(let path):
            UserMessage(
                .stateUnusable, "Another receiver has stored something in \(path).",
                "Give a directory of its own: `--state-dir DIR`.")
        }
    }

    private static let faultyCollar = "A collar that sends such logs is faulty or forged; restart it, or pair it again."
}

extension EncodingFailure {
    fileprivate var reason: String {
        switch self {
        case .fix(let sequence): "Fix \(sequence) has a field out of range."
        case .receiveTime(let time): "\(time) ms is no receive time."
        case .sequence(let sequence): "\(sequence) is beyond the highest sequence."
        case .request(let id): "Request \(id) has a field out of range."
        }
    }
}

extension FileFailure: MessageError {
    package var message: UserMessage {
        UserMessage(isDenial ? .permissionDenied : .journalUnavailable, "This program cannot \(operation.rawValue) \(path): \(cause).", remedy)
    }

    private var cause: String {
        if let foreignOwner { return "it belongs to user \(UserDatabase.userName(foreignOwner)), and the state directory does not" }
        return switch errorNumber {
        case ELOOP: "it is a symbolic link, which is not followed"
        case ENXIO: "it is no file"
        default: SystemError.text(errorNumber)
        }
    }

    private var remedy: String? {
        switch errorNumber {
        case _ where foreignOwner != nil: "Give it to the owner of the state directory, or choose another `--state-dir`."
        case ENOSPC: "Make room on the disk that holds \(path)."
        case EDQUOT: "Raise the disk quota, or make room."
        case EFBIG: "Raise the limit of file sizes (`ulimit -f`)."
        case EROFS: "Mount the disk that holds \(path) writable, or choose another `--state-dir`."
        case EACCES, EPERM: "Give this user write access to \(path), or choose another `--state-dir`."
        case ENOENT where operation == .find:
            "Was it removed or moved while it was in use? Bring it back, and keep away what did that."
        case EIO: "The disk fails: look at `sudo dmesg`, and move the state directory to another disk."
        case EMFILE, ENFILE: "Raise the limit of open files (`ulimit -n`)."
        case _ where isInTheWay: "Remove what is in the way at \(path), or choose another `--state-dir`."
        default: nil
        }
    }
}

extension UserMessage {
    /// No journal has the fix after which a consumer was to begin.
    package static func unknownFix(_ fix: FixIdentifier, _ remedy: String) -> UserMessage {
        UserMessage(
            .unknownFix,
            "There is no fix \(fix.sequence) of log \(fix.logID) of \(collarName(fix.deviceID)) in the state directory.", remedy)
    }

    package static func outputFailed(_ errorNumber: Int32) -> UserMessage {
        UserMessage(
            .outputFailed, "Nothing can be written to stdout: \(SystemError.text(errorNumber)).",
            "Make room where it leads; what was not written is written at the next start.")
    }
}

extension UserMessage {
    /// An error whose remedy follows from its code and its collar: the receiver gives it, and `doctor` gives it again.
    /// - Parameter deviceID: the factory id of the collar; nil if it is not known.
    package init(_ code: ErrorCode, _ reason: String, ofCollar deviceID: DeviceID?) {
        switch code {
        case .pairedElsewhere:
            self.init(
                code, reason, running: deviceID.map { .send("pair", to: $0) } ?? ShellCommand("collar-link", "send", "pair")
            ) {
                "Receive where it belongs to (machine and `--state-dir`). Or have it belong here: press its button twice, or switch it off "
                    + "and on, and run \($0) within a minute."
            }
        case .keyMissing, .keyRejected:
            self.init(
                code, reason,
                "If it is yours, give the key that it has: `collar-link key add ID FILE`. Or make a new one over its cable: "
                    + "`collar-link key exchange --port PATH`.")
        case .keyLost:
            let name = deviceID.map(\.description) ?? "ID"
            self.init(
                code, reason,
                "Restore the file of the key, or give the key again: `collar-link key add \(name) FILE`. If the collar has no key any "
                    + "more: `collar-link key remove \(name)`.")
        case .collarRestarted:
            self.init(
                code, reason,
                "If its memory was erased: `collar-link key accept-restart \(deviceID.map(\.description) ?? "ID") "
                    + "LOG`, with the log that the message names.")
        case .radioSettingRefused:
            self.init(code, reason, "Choose settings that the stick's radio has; it is tried again every minute.")
        case .unknownRadio:
            self.init(
                code, reason,
                "Name the port of the radio: `--port PATH`. Or put MeshCore's KISS modem or RNode firmware on the board.")
        default: self.init(code, reason, nil)
        }
    }
}
