import LinuxSystem

/// A source of events of a receiver.
enum EventSource: Equatable {
    case signals, deviceMonitor, output, control
    case controlClient(ControlClientID)
    case port(PortID)
    case portOpenings(PortID)
}

/// The events of a receiver.
typealias ReceiverEvents = EventPoll<EventSource>
