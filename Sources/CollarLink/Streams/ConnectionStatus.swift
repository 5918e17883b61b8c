import CollarConfiguration
import CollarControl
import CollarTracking

/// Whether a collar answers, as an owner sees it.
public enum ConnectionStatus: String, CaseIterable, Sendable {
    /// No receiver runs, no radio is open, or the collar was not heard yet.
    case connecting
    /// A radio is open, and the collar missed three heartbeats.
    case notReachable
    /// The collar was heard within three heartbeats.
    case connected

    /// The state in words, for a person.
    public var title: String {
        switch self {
        case .connecting: "Connecting to collar…"
        case .notReachable: "Collar not reachable"
        case .connected: "Connected"
        }
    }

    /// The colour in which the state is shown: `orange`, `red` or `green`. Show ``title`` with it: not every person sees the difference.
    public var colorName: String {
        switch self {
        case .connecting: "orange"
        case .notReachable: "red"
        case .connected: "green"
        }
    }
}

extension ConnectionStatus {
    init(_ connection: Connection) {
        self =
            switch connection {
            case .connecting: .connecting
            case .notReachable: .notReachable
            case .connected: .connected
            }
    }

    /// The state of several collars: connected if one of them is.
    static func best(of connections: some Sequence<Connection?>) -> ConnectionStatus {
        connections.reduce(.connecting) { best, connection in
            guard let connection, connection != .connecting, best != .connected else { return best }
            return ConnectionStatus(connection)
        }
    }

    /// The state of the collars of a selection, as a running receiver tells it.
    /// - Parameter time: the time at which an animal wears them, in milliseconds since 1970.
    init(_ figures: ReceiverFigures, of wanted: CollarSelection, at time: Int64) {
        self = .best(
            of: figures.collars.lazy.filter { wanted.contains($0.key, at: time) }.map { _, collar in
                Connection(isListenedTo: collar[.silence] != nil, isReachable: collar[.reachable].map { $0 == 1 })
            })
    }
}

extension Collar {
    /// Whether the collar answers: the present state, then each change. Of several collars, one that answers is enough.
    ///
    /// A user who may read the journals, and may not send requests, gets the states from the event log alone: it does not say that the
    /// receiver has ended.
    public var connection: StateStream<ConnectionStatus> {
        StateStream { [self] in
            let reading = ConnectionReading(self)
            return { () async throws(UserFacingError) -> ConnectionStatus? in try await reading.next() }
        }
    }
}
