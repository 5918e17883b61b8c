import CollarWire
import Glibc

/// The radio's end of a pseudo-terminal at which collars send as fast as the receiver reads.
struct Flood {
    private let descriptor: Int32
    private var collars: [LoadCollar]
    private let fixCountPerCollar: UInt32
    private let isBatched: Bool
    private let waitsForAnswers: Bool
    private var pending: [UInt8] = []
    private var sentCount = 0
    private var answers = StreamDecoder()
    private var readBuffer = [UInt8](repeating: 0, count: 65_536)

    /// TIOCGPTN and TIOCSPTLCK of <asm-generic/ioctls.h>.
    private static let tellNumber: UInt = 0x8004_5430, setLock: UInt = 0x4004_5431
    /// The most bytes that are encoded before the line takes them.
    private static let pendingByteLimit = 65_536
    /// The most fixes that a collar sends in one turn.
    private static let run = 100

    init?(collarCount: Int, fixCount: Int, isBatched: Bool, waitsForAnswers: Bool) {
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        var number: Int32 = 0
        var lock: Int32 = 0
        guard descriptor >= 0, ioctl(descriptor, Flood.tellNumber, &number) == 0,
            ioctl(descriptor, Flood.setLock, &lock) == 0
        else { return nil }
        let path = "/dev/pts/\(number)"
        collars = (0..<collarCount).map(LoadCollar.init(number:))
        fixCountPerCollar = UInt32(fixCount / collarCount)
        self.isBatched = isBatched
        self.waitsForAnswers = waitsForAnswers
        // Opened and closed once. From then on this end reports a hang-up while no program has the other end open.
        let other = open(path, O_RDWR | O_NOCTTY)
        var settings = termios()
        tcgetattr(other, &settings)
        cfmakeraw(&settings)
        tcsetattr(other, TCSANOW, &settings)
        close(other)
        print(path)
        fflush(nil)
    }

    /// Sends everything, and waits until it is acknowledged. Prints the seconds from the first byte on.
    mutating func run() throws(EncodeError) {
        while !hasPeer { usleep(1000) }
        // The program that opens the terminal sets it up first, and drops the bytes that came before.
        usleep(300_000)
        let start = Flood.seconds
        for index in collars.indices { try collars[index].appendIdentity(to: &pending) }
        var turn = 0
        while collars.contains(where: { $0.nextSequence < fixCountPerCollar }) {
            while pending.count - sentCount < Flood.pendingByteLimit, collars[turn].nextSequence < fixCountPerCollar {
                let count = min(Flood.run, Int(fixCountPerCollar - collars[turn].nextSequence))
                if isBatched {
                    try collars[turn].appendBatches(count, to: &pending)
                } else {
                    try collars[turn].appendFixes(count, to: &pending)
                }
                turn = (turn + 1) % collars.count
            }
            exchange(waitingMilliseconds: -1)
        }
        while sentCount < pending.count { exchange(waitingMilliseconds: -1) }
        let sent = Flood.seconds
        while waitsForAnswers, collars.contains(where: { $0.acknowledgedCount < fixCountPerCollar }) {
            for index in collars.indices where collars[index].acknowledgedCount < fixCountPerCollar {
                try collars[index].appendProbe(to: &pending)
            }
            let patience = Flood.seconds + 0.2
            while Flood.seconds < patience, collars.contains(where: { $0.acknowledgedCount < fixCountPerCollar }) {
                exchange(waitingMilliseconds: 20)
            }
        }
        print(sent - start, Flood.seconds - start)
        // Bytes that are still in the line are lost when this end is closed.
        if !waitsForAnswers { usleep(500_000) }
    }

    private var hasPeer: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) >= 0 && state.revents & Int16(POLLHUP) == 0
    }

    /// Writes the bytes that the line takes, and reads the frames of the host.
    private mutating func exchange(waitingMilliseconds: Int32) {
        let wants = Int16(POLLIN) | (sentCount < pending.count ? Int16(POLLOUT) : 0)
        var state = pollfd(fd: descriptor, events: wants, revents: 0)
        poll(&state, 1, waitingMilliseconds)
        guard state.revents & Int16(POLLHUP) == 0 else {
            print("the receiver went away")
            exit(1)
        }
        if state.revents & Int16(POLLIN) != 0 { hear() }
        guard state.revents & Int16(POLLOUT) != 0 else { return }
        let count = pending.withUnsafeBytes { write(descriptor, $0.baseAddress! + sentCount, $0.count - sentCount) }
        if count > 0 { sentCount += count }
        if sentCount > Flood.pendingByteLimit || sentCount == pending.count {
            pending.removeFirst(sentCount)
            sentCount = 0
        }
    }

    private mutating func hear() {
        let count = read(descriptor, &readBuffer, readBuffer.count)
        guard count > 0 else { return }
        let bytes = readBuffer
        var stream = answers
        var position = 0
        while let event = stream.next(in: bytes.span.extracting(0..<count), at: &position) {
            guard event == .frame else { continue }
            for index in collars.indices { collars[index].receive(stream.frame) }
        }
        answers = stream
    }

    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
