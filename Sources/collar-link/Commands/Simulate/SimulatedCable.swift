import CollarReceiver
import CollarWire
import LinuxSystem
import SerialDevices

/// The cable of a simulated collar: a pseudo-terminal with a lasting name, which carries the bare frames of an exchange of keys.
struct SimulatedCable {
    private let terminal: PseudoTerminal
    private let link: PortLink
    private var stream = StreamDecoder()
    private var outbound: [UInt8] = []

    /// Makes the pseudo-terminal, and a symbolic link to it at `path`.
    init(at path: String) throws(CommandFailure) {
        do throws(SystemError) { terminal = try PseudoTerminal() } catch {
            throw CommandFailure(.inputOutput, "No pseudo-terminal could be created: \(error.text).")
        }
        link = PortLink(path: path)
        do throws(PortLinkError) { try link.point(to: terminal.path) } catch {
            throw CommandFailure(.cannotCreate, "--cable: \(error.description)", remedy: error.remedy)
        }
    }

    /// The descriptor to wait for; nil while no program has the cable open.
    var fileDescriptor: Int32? { terminal.hasPeer ? terminal.fileDescriptor : nil }

    /// Whether bytes wait to be written.
    var isWriting: Bool { !outbound.isEmpty }

    /// The frames that have come in.
    mutating func receive() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while case .bytes(let count) = terminal.read(into: &buffer) {
            let bytes = Array(buffer[..<count])
            var index = 0
            while let event = stream.next(in: bytes.span, at: &index) {
                guard case .frame = event else { continue }
                let frame = stream.frame
                frames.append(frame.indices.map { frame[$0] })
            }
        }
        return frames
    }

    /// Sends a bare frame.
    mutating func send(_ frame: [UInt8]) {
        outbound += [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
        flush()
    }

    /// Writes what waits. A program that does not read loses it.
    mutating func flush() {
        while !outbound.isEmpty {
            switch terminal.write(outbound.span) {
            case .written(let count): outbound.removeFirst(count)
            case .wouldBlock: return
            case .disconnected: outbound.removeAll()
            }
        }
    }

    /// Removes the link.
    func remove() { link.remove(from: terminal.path) }
}
