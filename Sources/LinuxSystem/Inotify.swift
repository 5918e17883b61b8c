import Glibc

/// One event as the kernel writes it.
package struct InotifyEvent {
    /// The watch that the event belongs to; −1 when events were lost.
    package let watch: Int32
    /// `IN_` bits.
    package let mask: UInt32
    /// The entry of the watched directory that changed; empty for the directory itself.
    package let name: String
}

/// Splits the bytes read from an inotify descriptor into events.
///
/// An event is four 32-bit numbers in the machine's byte order (watch, mask, cookie, length of the name), followed by the
/// name, which is padded with NUL bytes.
package struct InotifyEventReader {
    private static let headerByteCount = 16
    private var rest: ArraySlice<UInt8>

    package init(bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next event; nil at the end, or if an event is incomplete. (The kernel never writes an incomplete event.)
    package mutating func next() -> InotifyEvent? {
        guard rest.count >= InotifyEventReader.headerByteCount else { return nil }
        let watch = Int32(bitPattern: number(at: 0))
        let mask = number(at: 4)
        let nameByteCount = Int(number(at: 12))
        let afterHeader = rest.dropFirst(InotifyEventReader.headerByteCount)
        guard nameByteCount <= afterHeader.count else { return nil }
        let name = afterHeader.prefix(nameByteCount).prefix { $0 != 0 }
        rest = afterHeader.dropFirst(nameByteCount)
        return InotifyEvent(watch: watch, mask: mask, name: String(decoding: name, as: UTF8.self))
    }

    /// A new inotify descriptor that watches a path.
    /// - Parameter mask: the `IN_` bits of the events to wait for.
    package static func descriptor(watching path: String, for mask: UInt32) throws(SystemError) -> Int32 {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError(operation: "inotify_init1", errno: errno) }
        guard unsafe inotify_add_watch(descriptor, path, mask) >= 0 else {
            let cause = errno
            _ = close(descriptor)
            throw SystemError(operation: "inotify_add_watch \(path)", errno: cause)
        }
        return descriptor
    }

    /// Reads all events that wait at an inotify descriptor, without waiting for more.
    package static func readAll(from descriptor: Int32, _ handle: (InotifyEvent) -> Void) {
        while let bytes = SystemFiles.read(from: descriptor, byteLimit: 4_096), !bytes.isEmpty {
            var reader = InotifyEventReader(bytes: bytes[...])
            while let event = reader.next() { handle(event) }
        }
    }

    private func number(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        unsafe withUnsafeMutableBytes(of: &value) { bytes in
            unsafe bytes.copyBytes(from: rest.dropFirst(offset).prefix(4))
        }
        return value
    }
}

/// Tells when entries of a directory are made, replaced or removed, or when their permissions change.
///
/// It is not thread-safe. It closes its descriptor when it is released.
package final class DirectoryWatcher {
    /// For epoll: readable when ``drain()`` has events to read. The watcher closes it.
    package let fileDescriptor: Int32
    private let prefix: String

    /// - Parameter prefix: the start of the names that count.
    package init(_ directory: String, namesBeginningWith prefix: String) throws(SystemError) {
        let mask = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR
        fileDescriptor = try InotifyEventReader.descriptor(watching: directory, for: UInt32(mask))
        self.prefix = prefix
    }

    deinit { _ = close(fileDescriptor) }

    /// Reads all events without waiting.
    /// - Returns: whether one of them concerns an entry that counts, or events were lost.
    package func drain() -> Bool {
        var isConcerned = false
        InotifyEventReader.readAll(from: fileDescriptor) { event in
            if event.name.hasPrefix(prefix) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isConcerned = true }
        }
        return isConcerned
    }
}
