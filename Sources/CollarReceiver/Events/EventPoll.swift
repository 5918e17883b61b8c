import CLinuxEvents
import Glibc

/// Waits for descriptors, each of which belongs to a source.
final class EventPoll {
    /// A descriptor that is ready.
    struct Event {
        /// The source that the descriptor was added with.
        var source: EventSource
        /// Whether bytes wait or the other end is gone.
        var isReadable: Bool
        /// Whether there is room for bytes or the other end is gone.
        var isWritable: Bool
    }

    private let descriptor: Int32
    private var buffer = [ready_descriptor](repeating: ready_descriptor(), count: 16)

    init() throws(ReceiverError) {
        descriptor = event_poll_create()
        guard descriptor >= 0 else { throw .system(operation: "epoll_create1", errorNumber: errno) }
    }

    deinit { close(descriptor) }

    /// Watches a descriptor for reading, for writing, or both. This replaces an earlier watch of the descriptor.
    /// - Returns: false if the kernel cannot wait for this kind of descriptor (a regular file).
    @discardableResult
    func watch(_ fileDescriptor: Int32, as source: EventSource, forReading: Bool = true, forWriting: Bool = false) -> Bool {
        event_poll_watch(descriptor, fileDescriptor, source.token, forReading, forWriting) == 0
    }

    /// Stops waiting for a descriptor that stays open.
    func forget(_ fileDescriptor: Int32) { event_poll_forget(descriptor, fileDescriptor) }

    /// Waits until something happens. Signals come first.
    /// - Parameter timeoutMicroseconds: the longest wait; nil for no limit.
    func wait(timeoutMicroseconds: Int64?) -> [Event] {
        var milliseconds: Int32 = -1
        if let timeoutMicroseconds { milliseconds = Int32(clamping: (max(0, timeoutMicroseconds) + 999) / 1000) }
        let count = unsafe event_poll_wait(descriptor, &buffer, Int32(buffer.count), milliseconds)
        guard count > 0 else { return [] }
        var found: [Event] = buffer[..<Int(count)].compactMap { ready in
            EventSource(token: ready.token).map {
                Event(source: $0, isReadable: ready.is_readable, isWritable: ready.is_writable)
            }
        }
        if let index = found.firstIndex(where: { $0.source == .signals }) { found.swapAt(0, index) }
        return found
    }
}
