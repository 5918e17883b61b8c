import CollarARQ
import CollarControl
import CollarHost
import CollarPorts
import CollarWire
import LinuxSystem
import RadioModems
import SerialDevices

/// The line of a port of a ``PortMachine``, the modem of its radio, and the bytes that wait.
final class RadioPort {
    /// Frames are dropped while this many bytes or more wait. A lost answer does no harm: the collar polls again.
    private static let outboundLimit = 4096

    let id: PortID
    let link: LinkID
    let path: String
    /// The open line; nil if none is open.
    var connection: (any RadioConnection)? {
        didSet {
            if connection == nil { outbound.removeAll() }
            isWatchedForWriting = false
        }
    }
    /// A connection that is being made.
    var attempt: ConnectionAttempt?
    /// Bytes that the line has not taken yet.
    private var outbound: [UInt8] = []
    /// Whether the event loop waits until the open line takes bytes.
    var isWatchedForWriting = false
    /// The modem at the open port; nil while the port is closed.
    var modem: RadioModem?
    /// The device of the open line; nil if udev does not list it.
    var device: SerialDevice?
    var isDialectNamed = false
    /// Whether the airtime that the region allows the radio runs short.
    var isAirtimeShort = false
    /// The name by which the dialect of the stick is remembered; nil if the stick has no name that lasts.
    var stickName: String?
    /// Tells what other programs do with the open line; nil while it is closed, or if it cannot be watched.
    var openings: OpeningWatcher?
    /// Whether frames are being dropped because the line takes no bytes.
    private var isDropping = false
    /// The sizes of the frames of an answer on a serial line.
    private var lineFrames: [Int] = []

    init(id: PortID, link: LinkID, path: String) {
        self.id = id
        self.link = link
        self.path = path
    }

    /// The address of a radio at another machine; nil for a path of this machine.
    var networkAddress: NetworkAddress? { NetworkAddress(path) }

    /// The state of the port now, for the line of figures.
    func figures(_ port: PortMachine.Port) -> RadioFigures {
        let word: RadioFigures.State =
            switch port.state {
            case .open:
                switch modem?.condition {
                case .detecting: .detecting
                case .unused: .unset
                case .stranger: .stranger
                case .carries, nil: .open
                }
            case .trying: .connecting
            case .waiting: port.isAbsent ? .waiting : .retrying
            case .shared: .shared
            case .gone: .gone
            }
        // The program that asks may have another working directory.
        let shown = networkAddress == nil ? (SystemFiles.absolutePath(path) ?? path) : path
        return RadioFigures(
            port: shown, state: word, dialect: connection == nil ? nil : modem?.dialect?.rawValue, isAirtimeShort: isAirtimeShort)
    }

    /// Queues a bare frame. On a serial line it goes out with the next ``flush()``; another modem sends the frames of one answer
    /// after ``endAnswer(_:at:)``. If too many bytes wait, the frame is dropped.
    /// - Returns: whether dropping begins with this frame.
    func queue(_ frame: [UInt8]) -> Bool {
        guard modem?.isSerialLine == true else {
            modem?.send(frame)
            return false
        }
        lineFrames.append(frame.count)
        return queueBytes(StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }

    /// Ends the answer of the frames queued so far. ``queueModemBytes()`` takes what the modem then has for its stick.
    /// - Parameter settings: the settings that a stick with this project's firmware has told; nil for another radio.
    func endAnswer(_ settings: ModemSettings?, at now: Instant) {
        modem?.flush(at: now)
        if let settings { for count in lineFrames { modem?.noteLineFrame(byteCount: count, settings, at: now) } }
        lineFrames.removeAll(keepingCapacity: true)
    }

    /// Queues what the modem has for its stick.
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
    func read(into buffer: inout [UInt8]) -> ReadResult
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
