import CollarJournal
import Glibc
import Testing

@testable import CollarReceiver

/// The messages about files and directories that cannot be used.
@Suite struct StorageMessageTests {
    @Test func aFailureOfAFileSaysWhichAndWhatToDo() {
        let path = "/x/00000001.journal"
        let expectations: [(FileOperation, Int32, says: String, remedy: String)] = [
            (.write, ENOSPC, "cannot write to \(path): No space left on device", "Make room on the disk that holds \(path)."),
            (.write, EROFS, "Read-only file system", "writable"), (.read, EIO, "Input/output error", "dmesg"),
            (.create, ELOOP, "symbolic link", "in the way at \(path)"), (.open, EACCES, "Permission denied", "write access"),
            (.find, ENOENT, "No such file", "removed or moved"), (.open, EMFILE, "Too many open files", "ulimit -n"),
            (.write, EFBIG, "File too large", "ulimit -f"), (.write, EDQUOT, "quota", "quota"),
        ]
        for (operation, errorNumber, says, remedy) in expectations {
            let failure = FileFailure(operation, path, errorNumber: errorNumber)
            #expect(failure.message.reason.contains(says))
            #expect(failure.message.reason.contains(path))
            #expect(failure.message.remedy?.contains(remedy) == true)
            // The message of a stopped journal still names the failure that stopped it.
            let stopped = JournalError.stopped(after: failure).message
            #expect(stopped.reason.contains(failure.message.reason))
            #expect(stopped.remedy?.contains("restart") == true)
        }
    }

    @Test func aHolderIsNamed() {
        #expect(JournalError.heldBy(processID: 4711, path: "/x").message.reason.contains("process 4711"))
        #expect(JournalError.heldBy(processID: nil, path: "/x").message.reason.contains("another process"))
    }

    @Test func aDirectoryThatOthersMayWriteToHasItsCommand() {
        #expect(JournalError.openToStrangers(.others, path: "/x").message.remedy?.contains("chmod go-w /x") == true)
    }
}
