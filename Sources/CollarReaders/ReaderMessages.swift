import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire
import Glibc
import LinuxSystem

/// An error that ends a reader.
package enum ReaderError: Error, Equatable, Sendable {
    /// The journals or the position of the reader cannot be used.
    case journal(JournalError)
    /// No journal has the fix after which the reader was to begin.
    case unknownFix(FixIdentifier)
    /// Writing lines failed, and not because the consumer went away.
    case output(errorNumber: Int32)
    case watch(path: String, errorNumber: Int32)
    /// The command of a deliverer cannot be started, at the first attempt.
    case command(name: String, errorNumber: Int32)
    /// The command of a deliverer that tries once has failed.
    case commandFailed(name: String, CommandEnd)
    /// A deliverer that tries once has delivered, and cannot store its position.
    case positionNotStored(JournalError)
    /// Stdin, from which acknowledgements come, is a file.
    case input
    /// Nothing can say where the owner is, until a person helps.
    case owner(UserMessage)
    /// A system call that normally succeeds has failed.
    case system(SystemError)
}

extension ReaderError: MessageError {
    package var message: UserMessage {
        switch self {
        case .journal(let failure): failure.message
        case .unknownFix(let fix): .unknownFix(fix, "Begin with a time (`--since 2h`), or leave out `--since` to begin with the oldest entry.")
        case .output(let errorNumber): .outputFailed(errorNumber)
        case .watch(let path, ENOENT), .watch(let path, ENOTDIR):
            UserMessage(
                .noReceiver, "There is no directory \(path).",
                "Name the directory that `collar-link run` uses: `--state-dir DIR`.")
        case .watch(let path, let errorNumber):
            UserMessage(
                errorNumber == EACCES ? .permissionDenied : .journalUnavailable,
                "\(path) cannot be watched for changes: \(SystemError.text(errorNumber)).",
                errorNumber == ENOSPC || errorNumber == EMFILE
                    ? "Allow more of them: `sudo sysctl fs.inotify.max_user_watches=65536 fs.inotify.max_user_instances=512`." : nil)
        case .command(let name, let errorNumber):
            UserMessage(
                .commandFailed, "'\(name)' cannot be started: \(SystemError.text(errorNumber)).", "Give a command that exists, after `--`.")
        case .commandFailed(let name, let end):
            UserMessage(.commandFailed, "'\(name)' \(end.text); its lines are not delivered.", "They are delivered by the next attempt.")
        case .positionNotStored(let failure): .positionNotStored(failure)
        case .input: UserMessage(.unknown, "stdin must be a pipe, a socket or a terminal.")
        case .owner(let message): message
        case .system(let failure): UserMessage(.unknown, failure.message.reason)
        }
    }
}

/// An event of a follower or a deliverer that a person should know of; none ends the program.
package enum FollowerNotice: Equatable, Sendable {
    case journal(JournalFollower.Notice)
    /// A place to begin was given, but the reader has a position and goes on there.
    case goesOn(ReaderName)
    /// No receiver has used the state directory yet: the reader waits for one.
    case nothingStored(path: String)
    /// The position of the reader cannot be stored: it is tried again with the next lines.
    case cannotStorePosition(JournalError)
    /// Lines of the event log were removed before the reader took them.
    case eventsLost
    /// The event log cannot be read: no more events follow.
    case cannotReadEvents(JournalError)
    /// A file of animals or places cannot be used as it is: what it had before stays in use.
    case editedFile(EditedFileFault)
    /// The consumer has written something that is no id of a line that it got and has not confirmed.
    case notAnID(String)
    /// Fixes are not in the output, because its format cannot express them.
    case fixesLeftOut(Omission)
    /// The command has failed; it is tried again until it succeeds.
    case commandFailed(command: String, CommandEnd)
    case commandRecovered(command: String, attempts: Int)

    package var message: UserMessage {
        switch self {
        case .journal(.damage(let deviceID, let report)):
            UserMessage(
                .journalDamaged, "The journal of \(collarName(deviceID)) is damaged in segment \(report.segment); what is whole follows.",
                "See what is gone: `collar-link history --verify`.")
        case .journal(.unreadable(let deviceID, let error)):
            error.message.about("The lines of \(collarName(deviceID)) are held back", .journalUnreadable)
        case .journal(.rewritten(let deviceID)):
            UserMessage(
                nil, "The journal of \(collarName(deviceID)) was cut or restored: some of its lines are repeated, with the same ids.")
        case .goesOn(let name):
            UserMessage(
                nil, "Reader '\(name.text)' goes on where it stopped; `--since` is for its first start.",
                "To begin there after all, forget the position: `collar-link readers --remove \(name.text)`.")
        case .nothingStored(let path):
            UserMessage(
                nil, "Nothing is stored in \(path) yet; this reader is waiting for a receiver that stores there.",
                "If a receiver stores elsewhere, name its directory: `--state-dir DIR`.")
        case .cannotStorePosition(let error): .positionNotStored(error)
        case .eventsLost:
            UserMessage(
                nil, "Lines of events were removed before this reader took them: of faults and restarts in them there are no lines and no alerts.",
                "Only the last megabyte is kept: let the reader run more often.")
        case .cannotReadEvents(let error): error.message.about("No events follow", error.message.code)
        case .editedFile(let fault): fault.message
        case .notAnID(let text):
            UserMessage(
                nil, "'\(text)' is not the id of a line that waits to be acknowledged.",
                "Write the id of each line that was processed, on a line of its own.")
        case .fixesLeftOut(let omission): omission.message
        case .commandFailed(let command, let end):
            UserMessage(.commandFailed, "'\(command)' \(end.text); it is tried again until it succeeds, and nothing is lost.")
        case .commandRecovered(let command, let attempts):
            UserMessage(nil, "'\(command)' has succeeded, at attempt \(attempts).")
        }
    }

    package var mark: LogMark {
        var mark = LogMark(message, otherwise: .collarLocation)
        if case .fixesLeftOut = self { mark.level = .warning }
        return mark
    }
}

extension UserMessage {
    package static func positionNotStored(_ error: JournalError) -> UserMessage {
        var message = error.message
        message.reason = "The position of this reader is not stored, so that lines will be repeated: \(message.reason.asClause)"
        return message
    }
}

extension CommandEnd {
    package var text: String {
        switch self {
        case .exitCode(let code): "failed with exit code \(code)"
        case .signal(let number): "was ended by signal \(number)"
        case .notStarted(let errorNumber): "could not be started: \(SystemError.text(errorNumber))"
        }
    }
}
