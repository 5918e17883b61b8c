import CollarARQ
import CollarSimulator
import CollarWire
import Glibc
import LinuxSystem
import RadioModems
import SerialDevices

/// Two sticks within reach of each other, at two pseudo-terminals: `collar-link-stick-pair DIALECT LOSS SEED LINK LINK`.
///
/// `kill -USR1` pulls the stick of the first link out for three seconds, `kill -USR2` that of the second.
struct StickPorts {
    private static let absence: Int64 = 3_000_000

    private var pair: StickPair
    private let dialect: Dialect
    private var random: SeededRandom
    private let links: [PortLink]
    private var terminals: [PseudoTerminal?] = [nil, nil]
    private var returns: [Instant?] = [nil, nil]
    private var pending: [[UInt8]] = [[], []]
    private let signals: SignalDescriptor

    init(_ dialect: Dialect, loss: Double, seed: UInt64, links: [String]) throws {
        self.dialect = dialect
        self.links = links.map(PortLink.init)
        var random = SeededRandom(seed: seed)
        let sticks = StickPair.End.allCases.map { _ in dialect.makeStick(modem: PacketRadio.line, seed: random.next()) }
        pair = StickPair(sticks[0], sticks[1], loss: loss, seed: random.next())
        self.random = random
        signals = try SignalDescriptor([SIGINT, SIGTERM, SIGUSR1, SIGUSR2])
        for end in StickPair.End.allCases { try plug(end) }
    }

    private var now: Instant { Instant(microseconds: MonotonicClock.microseconds) }

    private mutating func plug(_ end: StickPair.End) throws {
        let terminal = try PseudoTerminal()
        try links[end.rawValue].point(to: terminal.path)
        terminals[end.rawValue] = terminal
        returns[end.rawValue] = nil
    }

    private mutating func pull(_ end: StickPair.End) {
        guard let terminal = terminals[end.rawValue] else { return }
        links[end.rawValue].remove(from: terminal.path)
        terminal.close()
        terminals[end.rawValue] = nil
        pending[end.rawValue] = []
        pair[end] = dialect.makeStick(modem: PacketRadio.line, seed: random.next())
        returns[end.rawValue] = now.advanced(byMicroseconds: StickPorts.absence)
    }

    mutating func run() throws {
        while true {
            while let signal = signals.next() {
                switch signal {
                case SIGUSR1: pull(.collar)
                case SIGUSR2: pull(.host)
                default:
                    for end in StickPair.End.allCases { pull(end) }
                    return
                }
            }
            for end in StickPair.End.allCases {
                if let due = returns[end.rawValue], due <= now { try plug(end) }
                carry(end)
            }
            pair.advance(to: now)
            for end in StickPair.End.allCases { carry(end) }
            wait()
        }
    }

    /// Moves bytes between a stick and its port. Without a program at the port they are lost.
    private mutating func carry(_ end: StickPair.End) {
        let index = end.rawValue
        pending[index] += pair.takeOutput(of: end, now: now)
        guard let terminal = terminals[index], terminal.hasPeer else { return pending[index] = [] }
        while !pending[index].isEmpty {
            let bytes = pending[index]
            guard case .written(let count) = terminal.write(bytes.span) else { break }
            pending[index].removeFirst(count)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while pair[end].isTakingInput, case .bytes(let count) = terminal.read(into: &buffer) {
            pair.receive(Array(buffer[..<count]), at: end, now: now)
        }
    }

    /// Waits for what is due, for bytes or for a signal. While no program has a port open, it is looked at every 20 ms.
    private func wait() {
        var descriptors = [pollfd(fd: signals.fileDescriptor, events: Int16(POLLIN), revents: 0)]
        var limit = max(0, pair.nextDeadline.microseconds(since: now))
        for end in StickPair.End.allCases {
            if let terminal = terminals[end.rawValue], terminal.hasPeer {
                let events = (pair[end].isTakingInput ? Int16(POLLIN) : 0) | (pending[end.rawValue].isEmpty ? 0 : Int16(POLLOUT))
                descriptors.append(pollfd(fd: terminal.fileDescriptor, events: events, revents: 0))
            } else {
                limit = min(limit, 20_000)
            }
        }
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: (limit + 999) / 1000))
    }
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 5, let dialect = Dialect(rawValue: words[0]), let loss = Double(words[1]), (0...1).contains(loss),
    let seed = UInt64(words[2])
else {
    print("usage: collar-link-stick-pair DIALECT LOSS SEED LINK LINK")
    exit(2)
}
var ports = try StickPorts(dialect, loss: loss, seed: seed, links: Array(words[3...]))
try ports.run()
