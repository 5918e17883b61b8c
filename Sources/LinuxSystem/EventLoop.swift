import CLinux
import Glibc

/// Waits for descriptors, each of which belongs to a source of events.
package final class EventPoll<Source: Equatable> {
    /// A descriptor that is ready.
    package struct Event {
        /// The source that the descriptor was added with.
        package var source: Source
        /// Whether bytes wait or the other end is gone.
        package var isReadable: Bool
        /// Whether there is room for bytes or the other end is gone.
        package var isWritable: Bool
    }

    private let descriptor: Int32
    private let urgent: Source
    private var buffer = [ready_descriptor](repeating: ready_descriptor(), count: 16)
    /// The sources of the watched descriptors. One that was closed stays until its number is used again.
    private var sources: [Int32: Source] = [:]

    /// - Parameter urgent: the source whose events come first.
    package init(urgent: Source) throws(SystemError) {
        descriptor = event_poll_create()
        guard descriptor >= 0 else { throw SystemError(operation: "epoll_create1", errno: errno) }
        self.urgent = urgent
    }

    deinit { close(descriptor) }

    /// Watches a descriptor for reading, for writing, or both. This replaces an earlier watch of the descriptor.
    /// - Returns: false if the kernel cannot wait for this kind of descriptor (a regular file).
    @discardableResult
    package func watch(_ fileDescriptor: Int32, as source: Source, forReading: Bool = true, forWriting: Bool = false) -> Bool {
        sources[fileDescriptor] = source
        return event_poll_watch(descriptor, fileDescriptor, forReading, forWriting) == 0
    }

    /// Stops waiting for a descriptor that stays open.
    package func forget(_ fileDescriptor: Int32) { event_poll_forget(descriptor, fileDescriptor) }

    /// Waits until something happens, or for this time; nil for no limit.
    package func wait(timeoutMicroseconds: Int64?) -> [Event] {
        var milliseconds: Int32 = -1
        if let timeoutMicroseconds { milliseconds = Int32(clamping: (max(0, timeoutMicroseconds) + 999) / 1000) }
        let count = unsafe event_poll_wait(descriptor, &buffer, Int32(buffer.count), milliseconds)
        guard count > 0 else { return [] }
        var found: [Event] = buffer[..<Int(count)].compactMap { ready in
            sources[ready.fd].map { Event(source: $0, isReadable: ready.is_readable, isWritable: ready.is_writable) }
        }
        if let index = found.firstIndex(where: { $0.source == urgent }) { found.swapAt(0, index) }
        return found
    }
}

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
    package init(_ signals: [Int32]) throws(SystemError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        guard unsafe sigprocmask(SIG_BLOCK, &set, nil) == 0 else { throw SystemError(operation: "sigprocmask", errno: errno) }
        fileDescriptor = unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard fileDescriptor >= 0 else { throw SystemError(operation: "signalfd", errno: errno) }
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

/// A clock that only goes forward.
package enum MonotonicClock {
    /// Microseconds since some point before the process began.
    package static var microseconds: Int64 { microseconds(of: CLOCK_MONOTONIC) }

    package static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static var unixMilliseconds: Int64 { MonotonicClock.microseconds(of: CLOCK_REALTIME) / 1000 }
}
