import CollarARQ
import CollarControl
import CollarHost
import CollarWire
import LinuxSystem
import RadioModems
import SerialDevices

struct PortID: Hashable {
    let index: Int
}

/// A path where a radio is, or may appear: a tty that the user named or udev found, or the address of a radio at another machine.
final class RadioPort {
    /// Whether a radio is open at the path; if not, what triggers the next attempt to open one.
    enum State {
        case open(any RadioConnection)
        case connecting(ConnectionAttempt)
        case retrying(at: Instant, attempt: Int)
        /// Another port has the same line open by another path. This port is tried again when the other port loses the line.
        case shared
        /// Nothing is open, and only a new event of udev triggers another attempt.
        case gone
    }

    /// Frames are dropped while this many bytes or more wait. A lost answer does no harm: the collar polls again.
    private static let outboundLimit = 4096

    let id: PortID
    let link: LinkID
    let path: String
    /// Whether the user named the port. While such a port is absent, the receiver looks for it once a second; if udev found the port,
    /// udev announces its return.
    let isNamedByUser: Bool
    var state = State.gone { didSet { if connection == nil { outbound.removeAll() } } }
    /// Bytes that the line has not taken yet.
    private var outbound: [UInt8] = []
    /// Whether the event loop waits until the open line takes bytes.
    var isWatchedForWriting = false
    var isDialectNamed = false
    /// The modem at the open port; nil while the port is closed.
    var modem: RadioModem?
    /// The name by which the dialect of the stick is remembered; nil if the stick has no name that lasts.
    var stickName: String?
    /// The route from the path to the device that was opened last, if that is a pseudo-terminal; else nil.
    var route: TerminalRoute?
    /// The path that is opened: ``path``, or the node at which the device of a named port has returned.
    var node: String
    /// The device that is open, or was open last; nil if none was, or if udev does not list it.
    var device: SerialDevice?
    var isUntried = true
    /// The error of the last attempt to open the port, and since when each attempt has given it; nil after the port opens.
    var lastError: (error: SerialPortError, since: Instant)?
    /// The error that keeps the port from being opened and does not pass by itself; nil after the port opens.
    var failure: SerialPortError?
    /// The error that the last report of a failed opening gave, so that the same error is not reported twice in a row; nil
    /// after the port opens.
    var lastComplaint: SerialPortError?
    /// The other process at the open port that was reported last; nil after the port opens.
    var lastReader: ProcessHolder?
    /// Notes what other programs do with the open port; nil while the port is closed, or if it cannot be watched.
    var openings: OtherOpenings?
    /// The device in the place of the radio that was reported last.
    var lastReplacement: String?
    /// Attempts in a row to connect that failed, or whose connection ended at once.
    var connectionAttemptCount = 0
    /// When the connection was made; nil once it has carried bytes.
    var connectedAt: Instant?
    /// Whether the opening is reported only when bytes come in: the connection before it ended at once.
    var isOpeningUnreported = false
    /// The reason that the last report of a failed connection gave; nil after the port opens.
    var lastConnectionFailure: ConnectionAttempt.Failure?
    /// Whether frames are being dropped because the line takes no bytes.
    private var isDropping = false

    init(id: PortID, link: LinkID, path: String, isNamedByUser: Bool) {
        self.id = id
        self.link = link
        self.path = path
        node = path
        self.isNamedByUser = isNamedByUser
    }

    /// The address of a radio at another machine; nil for a path of this machine.
    var networkAddress: NetworkAddress? { NetworkAddress(path) }

    var connection: (any RadioConnection)? { if case .open(let connection) = state { connection } else { nil } }

    /// When the modem of the open port has something to do; nil if no time is set.
    var nextDeadline: Instant? { connection == nil ? nil : Instant.earliest(modem?.nextDeadline, openings?.dueAt) }

    /// When the port is tried again; nil if no time is set.
    var nextRetry: Instant? { if case .retrying(let instant, _) = state { instant } else { nil } }

    var figures: RadioFigures {
        let word: RadioFigures.State =
            switch state {
            case .open:
                switch modem?.condition {
                case .detecting: .detecting
                case .unused: .unset
                case .stranger: .stranger
                case .carries, nil: .open
                }
            case .connecting: .connecting
            case .retrying:
                switch failure {
                case .notFound, .replaced: .waiting
                case .notATerminal, .permissionDenied, .busy, .disconnected, .system, nil: .retrying
                }
            case .shared: .shared
            case .gone: .gone
            }
        // The program that asks may have another working directory.
        let port = networkAddress == nil ? (SystemFiles.absolutePath(path) ?? path) : path
        return RadioFigures(port: port, state: word, dialect: connection == nil ? nil : modem?.dialect?.rawValue)
    }

    /// Queues a bare frame. On a serial line it goes out with the next ``flush()``; another modem sends the frames of one answer
    /// after ``endAnswer(at:)``. If too many bytes wait, the frame is dropped.
    /// - Returns: whether dropping begins with this frame.
    func queue(_ frame: [UInt8]) -> Bool {
        guard modem?.isSerialLine == true else {
            modem?.send(frame)
            return false
        }
        return queueBytes(StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }

    /// Ends the answer of the frames queued so far. ``queueModemBytes()`` takes what the modem then has for its stick.
    func endAnswer(at now: Instant) { modem?.flush(at: now) }

    func queueModemBytes() -> Bool {
        guard let bytes = modem?.takeBytes(), !bytes.isEmpty else { return false }
        return queueBytes(bytes.count) { output in for byte in bytes { output.append(byte) } }
    }

    private func queueBytes(_ count: Int, _ write: (inout OutputSpan<UInt8>) -> Void) -> Bool {
        guard connection != nil else { return false }
        guard outbound.count < RadioPort.outboundLimit else {
            defer { isDropping = true }
            return !isDropping
        }
        outbound += [UInt8](capacity: count) { output in write(&output) }
        return false
    }

    /// Writes as much as the line takes.
    /// - Parameter note: is called with the bytes that the line has taken.
    /// - Returns: whether bytes still wait; nil where no radio is open.
    func flush(_ note: (ArraySlice<UInt8>) -> Void) -> Bool? {
        guard let connection else { return nil }
        while !outbound.isEmpty {
            guard case .written(let count) = connection.write(outbound.span) else { break }
            note(outbound[..<count])
            outbound.removeFirst(count)
        }
        if outbound.isEmpty { isDropping = false }
        return !outbound.isEmpty
    }
}

/// An open line to a radio. No call blocks.
protocol RadioConnection: StreamEnd {
    /// The kind of line, on which the times of a stick's answers depend.
    var kind: RadioModem.PortKind { get }
    /// The time that bytes take to the radio's machine and back, in microseconds; 0 for a radio at this machine, or if it is not
    /// known.
    var roundTripMicroseconds: Int64 { get }
    /// Reads the waiting bytes into the start of the array, which must not be empty and keeps its length.
    func read(into buffer: inout [UInt8]) -> ReadResult
    /// Writes as many bytes as the line takes now.
    func write(_ bytes: Span<UInt8>) -> WriteResult
    /// Closes the line. A second call does nothing.
    func close()
}

extension SerialPort: RadioConnection {
    var kind: RadioModem.PortKind { isPseudoTerminal ? .remote : .board }
    var roundTripMicroseconds: Int64 { 0 }
}

extension NetworkConnection: RadioConnection {
    var kind: RadioModem.PortKind { .network }
}
