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

    /// Waits until something happens.
    /// - Parameter timeoutMicroseconds: the longest wait; nil for no limit.
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
