import LinuxSystem

/// A source of events of a reader.
enum ReaderSource: Equatable {
    case signals, output, journals, input
}

/// The events of a reader.
typealias ReaderEvents = EventPoll<ReaderSource>
