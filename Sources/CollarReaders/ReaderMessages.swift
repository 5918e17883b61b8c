import CollarErrors
import CollarFormats
import CollarJournal
import Glibc
import LinuxSystem

extension FollowerNotice {
    /// The notice, for a person.
    package var message: UserMessage {
        switch self {
        case .journal(.damage(let deviceID, let report)):
            UserMessage(
                .journalDamaged, "the journal of \(collarName(deviceID)) is damaged in segment \(report.segment); what is whole follows",
                "See what is gone: `collar-link history --verify`.")
        case .journal(.unreadable(let deviceID, let error)):
            error.message.about("the entries of \(collarName(deviceID)) wait", .journalUnreadable)
        case .journal(.rewritten(let deviceID)):
            UserMessage(
                nil, "the journal of \(collarName(deviceID)) was cut or restored: some of its lines are repeated, with the same ids")
        case .goesOn(let name):
            UserMessage(
                nil, "reader '\(name.text)' goes on where it stopped; --since is for its first start",
                "To begin there after all, forget the position: `collar-link readers --remove \(name.text)`.")
        case .nothingStored(let path):
            UserMessage(
                nil, "nothing is stored in \(path) yet; waiting for a receiver that stores there",
                "If a receiver stores elsewhere, name its directory: `--state-dir DIR`.")
        case .cannotStorePosition(let error): .positionNotStored(error)
        case .cannotReadEvents(let error): error.message.about("no events follow", error.message.code)
        case .animals(let fault): fault.message
        case .notAnID(let text):
            UserMessage(
                nil, "'\(text)' is not the id of a line that waits to be acknowledged",
                "Write the id of each line that was processed, on a line of its own.")
        case .fixesLeftOut(let omission): omission.message
        case .commandFailed(let command, let end):
            UserMessage(.commandFailed, "'\(command)' \(end.text); it is tried again until it succeeds, and nothing is lost")
        case .commandRecovered(let command, let attempts):
            UserMessage(nil, "'\(command)' has succeeded, at attempt \(attempts)")
        }
    }
}

extension UserMessage {
    /// The position of a reader cannot be stored.
    package static func positionNotStored(_ error: JournalError) -> UserMessage {
        error.message.about("the position of this reader is not stored; lines will be repeated", error.message.code)
    }
}

extension CommandEnd {
    /// How the command ended, after its name.
    package var text: String {
        switch self {
        case .exitCode(let code): "failed with exit code \(code)"
        case .signal(let number): "was ended by signal \(number)"
        case .notStarted(let errorNumber): "could not be started: \(SystemError.text(errorNumber))"
        }
    }
}

extension FollowerNotice {
    /// What a filter knows of the notice.
    package var mark: LogMark {
        var mark = LogMark(message, otherwise: .collarLocation)
        if case .fixesLeftOut = self { mark.level = .warning }
        return mark
    }
}
