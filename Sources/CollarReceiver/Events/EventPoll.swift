import CLinuxEvents
import Glibc

/// Waits for descriptors, each with the source it belongs to.
final class EventPoll {
    /// One descriptor that has something to say.
    struct Event {
        /// What it was added as.
        var source: EventSource
        /// Bytes wait, or the other end is gone.
        var isReadable: Bool
        /// There is room for bytes, or the other end is gone.
        var isWritable: Bool
    }

    private let descriptor: Int32
    private var buffer = [ready_descriptor](repeating: ready_descriptor(), count: 16)

    init() throws(ReceiverError) {
        descriptor = event_poll_create()
        guard descriptor >= 0 else { throw .system(operation: "epoll_create1", errorNumber: errno) }
    }

    deinit { close(descriptor) }

    /// Waits for reading, and for writing where wanted; a descriptor that is there already is changed.
    /// - Returns: false where the kernel cannot wait for such a descriptor (a regular file).
    @discardableResult
    func watch(_ fileDescriptor: Int32, as source: EventSource, forReading: Bool = true, forWriting: Bool = false) -> Bool {
        event_poll_watch(descriptor, fileDescriptor, source.token, forReading, forWriting) == 0
    }

    /// Stops waiting for a descriptor that stays open.
    func forget(_ fileDescriptor: Int32) { event_poll_forget(descriptor, fileDescriptor) }

    /// Waits until something happens.
    /// - Parameter timeoutMicroseconds: at most this long; nil for ever.
    func wait(timeoutMicroseconds: Int64?) -> [Event] {
        var milliseconds: Int32 = -1
        if let timeoutMicroseconds { milliseconds = Int32(clamping: (max(0, timeoutMicroseconds) + 999) / 1000) }
        let count = unsafe event_poll_wait(descriptor, &buffer, Int32(buffer.count), milliseconds)
        guard count > 0 else { return [] }
        return buffer[..<Int(count)].compactMap { ready in
            EventSource(token: ready.token).map {
                Event(source: $0, isReadable: ready.is_readable, isWritable: ready.is_writable)
            }
        }
    }
}
