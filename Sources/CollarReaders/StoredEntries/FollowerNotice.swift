import CollarConfiguration
import CollarFormats
import CollarJournal
import LinuxSystem

/// An event of a follower or a deliverer that a person should know of; none ends the program.
package enum FollowerNotice: Equatable, Sendable {
    /// A notice about a journal.
    case journal(JournalFollower.Notice)
    /// A place to begin was given, but the reader has a position and goes on there.
    case goesOn(ReaderName)
    /// No receiver has used the state directory yet: the reader waits for one.
    case nothingStored(path: String)
    /// The position of the reader cannot be stored: it is tried again with the next lines.
    case cannotStorePosition(JournalError)
    /// The event log cannot be read: no more events follow.
    case cannotReadEvents(JournalError)
    /// An animals file cannot be used as it is: the names it had before stay in use.
    case animals(AnimalFileFault)
    /// The consumer has written something that is no id of a line that it got and has not confirmed.
    case notAnID(String)
    /// Fixes are not in the output, because its format cannot express them.
    case fixesLeftOut(Omission)
    /// The command has failed; it is tried again for ever.
    case commandFailed(command: String, CommandEnd)
    /// The command has succeeded again.
    case commandRecovered(command: String, attempts: Int)
}
