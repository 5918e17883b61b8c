import CollarConfiguration
import CollarFormats
import CollarTracking
import CollarWire

/// The newest states of the radios and the collars, from the events of links.
struct LinkHistory: Equatable, Sendable {
    fileprivate struct Link: Equatable {
        /// The port at which the collar was heard first in this run of the receiver.
        var port: String?
        /// Nil before the collar was heard.
        var isReachable: Bool?
        var health = CollarHealth.healthy
    }

    /// Whether each port is open.
    private var ports: [String: Bool] = [:]
    private var collars: [DeviceID: Link] = [:]

    mutating func take(_ event: CollarEvent) {
        switch event.kind {
        case .opened(let port):
            // A receiver that was stopped does not say that it closes its ports. The next one hears the collars for the first time.
            if ports.updateValue(true, forKey: port) == true {
                for deviceID in collars.keys where collars[deviceID]?.port == port { collars[deviceID]?.isReachable = nil }
            }
        case .unplugged(let port), .closed(let port): ports[port] = false
        default:
            guard let deviceID = event.collarID.flatMap(CollarID.deviceID) else { return }
            collars[deviceID, default: Link()].take(event.kind)
        }
    }

    /// The connection to the collars of a selection.
    /// - Parameter time: the time at which an animal wears them, in milliseconds since 1970.
    func connection(to wanted: CollarSelection, at time: Int64) -> ConnectionStatus {
        // The log has only the newest events: the ports may have been opened before them.
        let isOpen = ports.isEmpty || ports.values.contains(true)
        return .best(
            of: collars.lazy.filter { wanted.contains($0.key, at: time) }
                .map { Connection(isListenedTo: isOpen, isReachable: $0.value.isReachable) })
    }

    /// The worst health of the links to the collars of a selection.
    /// - Parameter time: the time at which an animal wears them, in milliseconds since 1970.
    func health(of wanted: CollarSelection, at time: Int64) -> CollarHealth {
        let all = collars.lazy.filter { wanted.contains($0.key, at: time) }.map(\.value.health)
        return all.contains(.unhealthy) ? .unhealthy : all.contains(.degraded) ? .degraded : .healthy
    }
}

extension LinkHistory.Link {
    fileprivate mutating func take(_ kind: CollarEvent.Kind) {
        switch kind {
        case .heard(let port): (self.port, isReachable, health) = (port, true, .healthy)
        // One frame is enough. Its event comes only if that of the failures came, which a restart of the receiver forgets.
        case .reachable: (isReachable, health) = (true, .healthy)
        case .late: isReachable = true
        case .unreachable: isReachable = false
        case .degraded: health = .degraded
        case .unhealthy: health = .unhealthy
        case .healthy: health = .healthy
        case .opened, .unplugged, .closed, .restarted, .problem, .other: break
        }
    }
}

extension Collar {
    /// The history of the links, now and after each change. The first one comes at once.
    var links: StoredReading<LinkHistory> {
        var plan = StreamPlan(kinds: [.link]) { item, context in
            guard case .event(let line, isWanted: true) = item, let event = CollarEvent(line: line.bytes)
            else { return nil as LinkHistory? }
            context.links.take(event)
            return context.links
        }
        plan.flow = .newest(limit: 1)
        plan.begins = .allEvents
        plan.initial = LinkHistory()
        return StoredReading(plan, of: choice, access)
    }
}
