import CollarARQ
import CollarHost
import CollarWire
import SerialDevices

/// The identity of a ``RadioPort`` of a receiver.
struct PortID: Hashable {
    let index: Int
}

/// A path where a radio is, or may appear: a tty that the user named or udev found.
final class RadioPort {
    /// Whether a radio is open at the path; if not, what triggers the next attempt to open one.
    enum State {
        /// The radio is open; `outbound` holds the bytes that its line has not taken yet.
        case open(SerialPort, outbound: [UInt8])
        /// The path is watched: the device may appear, or its permissions may change.
        case waiting(PathWatcher)
        /// The port is tried again at this time: another program has it open, its permissions are not set yet, or its
        /// path cannot be watched.
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
    /// Whether the user named the port. The receiver watches the path of such a port; if udev found the port, udev announces
    /// its return.
    let isNamedByUser: Bool
    var state = State.gone
    /// The route from the path to the device that was opened last, if that is a pseudo-terminal; else nil.
    var route: TerminalRoute?
    /// The error that the last report of a failed opening gave, so that the same error is not reported twice in a row; nil
    /// after the port opens.
    var lastComplaint: SerialPortError?
    /// Whether frames are being dropped because the line takes no bytes.
    private var isDropping = false

    init(id: PortID, link: LinkID, path: String, isNamedByUser: Bool) {
        self.id = id
        self.link = link
        self.path = path
        self.isNamedByUser = isNamedByUser
    }

    /// The open radio.
    var serialPort: SerialPort? {
        if case .open(let port, _) = state { port } else { nil }
    }

    /// When the port is tried again; nil if no time is set.
    var nextDeadline: Instant? {
        if case .retrying(let instant, _) = state { instant } else { nil }
    }

    /// Queues a bare frame for the line. If too many bytes wait, the frame is dropped.
    /// - Returns: whether dropping begins with this frame.
    func queue(_ frame: Span<UInt8>) -> Bool {
        guard case .open(let serial, var outbound) = state else { return false }
        guard outbound.count < RadioPort.outboundLimit else {
            defer { isDropping = true }
            return !isDropping
        }
        outbound += [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame, into: &output)
        }
        state = .open(serial, outbound: outbound)
        return false
    }

    /// Writes as much as the line takes.
    /// - Returns: whether bytes still wait; nil where no radio is open.
    func flush() -> Bool? {
        guard case .open(let serial, var outbound) = state else { return nil }
        while !outbound.isEmpty {
            let result = serial.write(outbound.span)
            guard case .written(let count) = result else { break }
            outbound.removeFirst(count)
        }
        if outbound.isEmpty { isDropping = false }
        state = .open(serial, outbound: outbound)
        return !outbound.isEmpty
    }
}
