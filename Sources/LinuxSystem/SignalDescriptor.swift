import CLinux
import Glibc

/// A descriptor that delivers signals, so that an event loop can wait for them.
package final class SignalDescriptor {
    /// Readable when a signal waits; for epoll or poll.
    package let fileDescriptor: Int32

    /// The signals that end a program as a person wants it: the last one comes when the terminal goes away. A program that `nohup` has
    /// started goes on then.
    package static var ofEnd: [Int32] { [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP]) }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // The constant is a function, so it has no `==`.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Blocks the signals and opens a descriptor for them.
    /// - Returns: nil if a system call fails; `errno` says why.
    package init?(_ signals: [Int32]) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        guard unsafe sigprocmask(SIG_BLOCK, &set, nil) == 0 else { return nil }
        fileDescriptor = unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard fileDescriptor >= 0 else { return nil }
    }

    deinit { close(fileDescriptor) }

    /// The next signal that came in; nil when none waits.
    package func next() -> Int32? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        let count = unsafe read(fileDescriptor, &info, size)
        return count == size ? Int32(info.ssi_signo) : nil
    }
}
