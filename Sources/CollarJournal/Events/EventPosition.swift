/// A place between two lines of the event log.
public struct EventPosition: Comparable, Hashable, Sendable {
    /// Number of the file, from 1.
    public var file: UInt32
    /// Bytes from the start of the file.
    public var offset: UInt32

    /// Creates a position.
    public init(file: UInt32, offset: UInt32) {
        self.file = file
        self.offset = offset
    }

    /// The position before all events.
    public static let start = EventPosition(file: 1, offset: 0)

    /// Whether `left` is in an earlier file, or at a lower offset in the same one.
    public static func < (left: EventPosition, right: EventPosition) -> Bool {
        (left.file, left.offset) < (right.file, right.offset)
    }
}
