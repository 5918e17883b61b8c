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
    /// A directory cannot be watched for changes.
    case watch(path: String, errorNumber: Int32)
    /// The command of a deliverer cannot be started, at the first attempt.
    case command(name: String, errorNumber: Int32)
    /// The command of a deliverer that tries once has failed.
    case commandFailed(name: String, CommandEnd)
    /// A deliverer that tries once has delivered, and cannot store its position.
    case positionNotStored(JournalError)
    /// A system call that normally succeeds has failed.
    case system(SystemError)
}

extension ReaderError: MessageError {
    /// The error, for a person.
    package var message: UserMessage {
        switch self {
        case .journal(let failure): failure.message
        case .unknownFix(let fix): .unknownFix(fix)
        case .output(let errorNumber): .outputFailed(errorNumber)
        case .watch(let path, ENOENT), .watch(let path, ENOTDIR):
            UserMessage(
                .noReceiver, "there is no directory \(path)",
                "Name the directory that `collar-link run` uses: `--state-dir DIR`.")
        case .watch(let path, let errorNumber):
            UserMessage(
                errorNumber == EACCES ? .permissionDenied : .journalUnavailable,
                "\(path) cannot be watched for changes: \(SystemError.text(errorNumber))",
                errorNumber == ENOSPC || errorNumber == EMFILE
                    ? "Allow more of them: `sudo sysctl fs.inotify.max_user_watches=65536 fs.inotify.max_user_instances=512`." : nil)
        case .command(let name, let errorNumber):
            UserMessage(.commandFailed, "'\(name)' cannot be started: \(SystemError.text(errorNumber))", "Give a command that exists, after `--`.")
        case .commandFailed(let name, let end):
            UserMessage(.commandFailed, "'\(name)' \(end.text); its lines are not delivered", "They are delivered by the next attempt.")
        case .positionNotStored(let failure): .positionNotStored(failure)
        case .system(let failure): UserMessage(.unknown, failure.text)
        }
    }
}
