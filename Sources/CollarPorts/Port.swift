import CollarARQ

extension PortMachine {
    /// A path where a radio is, or may appear: a tty that the user named or udev found, or the address of a radio at another machine.
    package struct Port: Sendable {
        package let id: PortID
        package let path: String
        /// Whether the user named the port. While such a port is absent, it is looked for once a second; if udev found the port, udev
        /// announces its return.
        package let isNamed: Bool
        package let isNetwork: Bool
        /// The path that is opened: ``path``, or the node at which the device of a named port has returned.
        package internal(set) var node: String
        package internal(set) var state = State.gone
        /// The device that is open, or was open last; nil if none was, or if udev does not list it.
        package internal(set) var device: SerialDevice?
        /// The route from the path to the device that was opened last, if that is a pseudo-terminal; else nil.
        var route: TerminalRoute?
        var isUntried = true
        /// The error of the last attempts; nil after the port opens.
        package internal(set) var failure: Failure?
        var complaint = Complaint()

        init(id: PortID, path: String, isNamed: Bool, isNetwork: Bool) {
            self.id = id
            self.path = path
            self.isNamed = isNamed
            self.isNetwork = isNetwork
            node = path
        }

        /// The open line; nil if none is open.
        package var line: Line? { if case .open(let line) = state { line } else { nil } }

        var wait: Wait? { if case .waiting(let wait) = state { wait } else { nil } }

        /// Whether a radio is open, or may open within moments.
        var mayCarryBytes: Bool {
            switch state {
            case .open, .trying, .shared: true
            case .waiting: failure?.isLasting != true
            case .gone: false
            }
        }

        /// Whether the last attempt found no radio at the path.
        package var isAbsent: Bool {
            switch failure?.error {
            case .notFound, .replaced: true
            case .notATerminal, .permissionDenied, .busy, .disconnected, .system, nil: false
            }
        }
    }

    package enum State: Equatable, Sendable {
        case open(Line)
        /// The answer of the owner is awaited.
        case trying(Attempt)
        case waiting(Wait)
        /// Another port has the same line open by another path.
        case shared
        /// Nothing is open, and only a device of udev leads to another attempt.
        case gone
    }

    package struct Attempt: Equatable, Sendable {
        /// Attempts in a row before this one that failed, or whose connection ended at once.
        var count: Int
    }

    package struct Wait: Equatable, Sendable {
        var due: Instant
        var attemptCount: Int
    }

    /// An open line.
    package struct Line: Equatable, Sendable {
        /// Attempts in a row before this one that failed, or whose connection ended at once.
        let attemptCount: Int
        let openedAt: Instant
        var hasCarried = false
        /// The other process at the line that was found last.
        var reader: ProcessHolder?
        /// Whether a program was reported that this user cannot see.
        var isUnseenReported = false
        var others = OtherOpenings()
    }

    /// The error that all attempts have given since a time.
    package struct Failure: Equatable, Sendable {
        package let error: SerialPortError
        let since: Instant
        /// Whether it has not passed in the time in which it may pass by itself.
        var isLasting = false
    }

    /// The last reports about a port, by which a repetition is recognized.
    struct Complaint: Equatable, Sendable {
        /// The error of the last notice; nil after the port opens.
        var error: SerialPortError?
        /// The device in the place of the radio.
        var replacement: String?
        /// The reason why a connection was not made; nil after the port opens.
        var connection: String?
        /// Whether the next opening is reported only when bytes come in: the connection before it ended at once.
        var hidesOpening = false
    }

    /// When to look for other programs at a line.
    struct OtherOpenings: Equatable, Sendable {
        /// Time after an opening until it is looked at: some programs close the port again at once. Microseconds.
        static let patience: Int64 = 300_000
        /// Time between two looks, in microseconds.
        static let interval: Int64 = 1_000_000

        /// When to look; nil if nothing has happened since the last look.
        private(set) var dueAt: Instant?
        private var lookedAt: Instant?

        mutating func noteNews(at now: Instant) {
            let earliest = now.advanced(byMicroseconds: OtherOpenings.patience)
            dueAt = dueAt ?? lookedAt.map { max(earliest, $0.advanced(byMicroseconds: OtherOpenings.interval)) } ?? earliest
        }

        mutating func noteLook(at now: Instant) {
            lookedAt = now
            dueAt = nil
        }
    }
}

/// The result of the examination of a node.
package struct NodeFacts: Equatable, Sendable {
    /// Another port that has the node open.
    package var openPort: PortID?
    /// The present route of the path; nil if it was not asked.
    package var route: TerminalRoute?
    /// The device at the node; nil if nothing is there, if udev does not list it, or if it was not asked.
    package var device: SerialDevice?
    package var isPseudoTerminal = false

    package init(openPort: PortID? = nil, route: TerminalRoute? = nil, device: SerialDevice? = nil, isPseudoTerminal: Bool = false) {
        self.openPort = openPort
        self.route = route
        self.device = device
        self.isPseudoTerminal = isPseudoTerminal
    }
}

/// The symbolic links on the way from a path to a terminal. The kernel gives the number of a closed pseudo-terminal to a new one, which
/// may belong to any program. So an unchanged route does not show that the radio is back; a link that was created again does.
package struct TerminalRoute: Equatable, Sendable {
    package let links: [String]

    package init(links: [String]) { self.links = links }

    /// Whether the path names the node, such as `/dev/pts/3`, without symbolic links. Such a route never changes, so it never
    /// shows that the radio is back.
    package var isNumber: Bool { links.isEmpty }
}

/// An event at a port that a person should know of.
package enum PortNotice: Equatable, Sendable {
    /// Nothing is at the path yet.
    case waiting
    /// A radio is open. `node` is where it is, if the device of a named port has returned at another node.
    case opened(node: String?)
    /// The device is not marked as a collar radio any more: its port is closed.
    case unmarked
    case unplugged(then: AfterUnplugging)
    /// Another process has the open port open as well, and may take bytes from it; nil if this user cannot see which one.
    case read(by: ProcessHolder?)
    case cannotOpen(SerialPortError)
    case cannotConnect(reason: String)
}

/// The reaction to the unplugging of a radio.
package enum AfterUnplugging: Equatable, Sendable {
    case isAwaited
    /// The path is not opened again, which is the number of a pseudo-terminal: the kernel can give that number to another terminal.
    case isAnotherTerminal
    case ends
}

/// A failure of ports that ends the receiver.
package enum PortFailure: Equatable, Sendable {
    case port(SerialPortError)
    /// The radio at the path is gone; nil if none was found.
    case noDevice(path: String?)
    case connection(path: String, reason: String)
}
