import CollarJournal
import CollarReceiver
import Glibc

extension KeyFiles {
    /// Changes keys, after a running receiver that changes keys has finished.
    func change(_ body: (KeyFiles) throws(JournalError) -> Void) throws(CommandFailure) {
        try CommandFailure.wrapping(try makeDirectories())
        // A receiver holds the lock for the time of one write.
        for _ in 0..<100 {
            if try CommandFailure.wrapping(try whileLocked { () throws(JournalError) in try body(self) }) { return }
            usleep(50_000)
        }
        throw CommandFailure(.portBusy, "\(path): another program is changing keys", remedy: "Run the command again.")
    }
}
