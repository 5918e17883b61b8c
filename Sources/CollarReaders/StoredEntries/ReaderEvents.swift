import LinuxSystem

/// A source of events of a reader.
package enum ReaderSource: Equatable {
    case signals, output, journals, input
}

/// The events of a reader.
package typealias ReaderEvents = EventPoll<ReaderSource>
