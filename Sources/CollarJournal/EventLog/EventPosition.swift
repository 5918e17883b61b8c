/// A place between two lines of the event log.
package struct EventPosition: Comparable, Hashable, Sendable {
    /// Number of the file, from 1.
    package var file: UInt32
    /// Bytes from the start of the file.
    package var offset: UInt32

    /// Creates a position.
    package init(file: UInt32, offset: UInt32) {
        self.file = file
        self.offset = offset
    }

    /// The position before all events.
    package static let start = EventPosition(file: 1, offset: 0)

    /// Whether `left` is in an earlier file, or at a lower offset in the same one.
    package static func < (left: EventPosition, right: EventPosition) -> Bool {
        (left.file, left.offset) < (right.file, right.offset)
    }
}
