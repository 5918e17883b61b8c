import CollarARQ
import CollarHost
import CollarWire
import SerialDevices

/// A ``RadioPort`` among those of a receiver.
struct PortID: Hashable {
    let index: Int
}

/// A place where a radio is, or will be: a tty the user named or udev found.
final class RadioPort {
    /// Whether a radio is open here, and what may change it.
    enum State {
        /// The radio is open; bytes that its line did not take yet.
        case open(SerialPort, outbound: [UInt8])
        /// The path is watched: it may appear, or its permissions may change.
        case waiting(PathWatcher)
        /// Another program has it: try again at this time.
        case retrying(at: Instant, attempt: Int)
        /// Another port has the same line open by another name: tried again when that closes.
        case shared
        /// Only a new device event brings it back.
        case gone
    }

    /// Bytes that may wait for a line that takes nothing. The collar asks again.
    private static let outboundLimit = 4096

    let id: PortID
    let link: LinkID
    let path: String
    /// Whether the user named it; such a port is waited for, others come back by themselves.
    let isNamedByUser: Bool
    var state = State.gone
    /// How the path led to the pseudo-terminal that was open last; nil for other devices.
    var route: TerminalRoute?
    /// The last complaint about a port that cannot be opened, so that it is made once.
    var lastComplaint: SerialPortError?

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

    /// When it is opened again.
    var nextDeadline: Instant? {
        if case .retrying(let instant, _) = state { instant } else { nil }
    }

    /// Adds a bare frame to what the line is to take. Where too much waits the frame is dropped.
    func queue(_ frame: Span<UInt8>) {
        guard case .open(let serial, var outbound) = state, outbound.count < RadioPort.outboundLimit else { return }
        outbound += [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame, into: &output)
        }
        state = .open(serial, outbound: outbound)
    }

    /// Writes as much as the line takes.
    /// - Returns: whether something waits; nil where no radio is open.
    func flush() -> Bool? {
        guard case .open(let serial, var outbound) = state else { return nil }
        while !outbound.isEmpty {
            let result = serial.write(outbound.span)
            guard case .written(let count) = result else { break }
            outbound.removeFirst(count)
        }
        state = .open(serial, outbound: outbound)
        return !outbound.isEmpty
    }
}
