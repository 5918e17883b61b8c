/// A source of events for the event loop.
enum EventSource: Equatable {
    case signals, deviceMonitor, output, control, journals, input
    case controlClient(ControlClientID)
    case port(PortID)
    case portOpenings(PortID)

    /// The number that identifies the source to epoll.
    var token: UInt64 {
        switch self {
        case .signals: 1
        case .deviceMonitor: 2
        case .output: 3
        case .control: 4
        case .journals: 5
        case .input: 6
        case .controlClient(let client): 1 << 32 | UInt64(client.place)
        case .port(let port): 2 << 32 | UInt64(port.index)
        case .portOpenings(let port): 3 << 32 | UInt64(port.index)
        }
    }

    init?(token: UInt64) {
        switch (token >> 32, Int(token & 0xFFFF_FFFF)) {
        case (0, 1): self = .signals
        case (0, 2): self = .deviceMonitor
        case (0, 3): self = .output
        case (0, 4): self = .control
        case (0, 5): self = .journals
        case (0, 6): self = .input
        case (1, let place): self = .controlClient(ControlClientID(place: place))
        case (2, let index): self = .port(PortID(index: index))
        case (3, let index): self = .portOpenings(PortID(index: index))
        default: return nil
        }
    }
}
