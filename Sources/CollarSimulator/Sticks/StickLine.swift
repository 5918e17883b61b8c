import CollarARQ

/// How long bytes take between a host and the firmware of a stick.
package struct LineTiming: Equatable, Sendable {
    package let nanosecondsPerByte: Int64
    /// The time that the way takes apart from that, in microseconds.
    package let latencyMicroseconds: Int64

    /// A UART of 115,200 bit/s, with ten bits a byte.
    package static let uart = LineTiming(nanosecondsPerByte: 86_806, latencyMicroseconds: 0)
    /// USB of 12 Mbit/s: 0.2 ms from the host to the air, 1 to 2 ms from the air to the host.
    package static let usb = LineTiming(nanosecondsPerByte: 700, latencyMicroseconds: 150)
    package static let immediate = LineTiming(nanosecondsPerByte: 0, latencyMicroseconds: 0)
}

/// The line between a host and the firmware of a stick, with the bytes that are under way.
struct StickLine: Sendable {
    /// Bytes that arrive together, at the time of the last of them.
    private struct Section: Sendable {
        var bytes: [UInt8]
        var due: Instant
    }

    /// How long a stick needs to start, in microseconds. It hears nothing before. (H: 1 s for all boards.)
    static let bootMicroseconds: Int64 = 1_000_000

    private let timing: LineTiming
    private var input: [Section] = []
    private var output: [Section] = []
    private var inputEnd = Instant(microseconds: 0)
    private var outputEnd = Instant(microseconds: 0)
    private var stallEnd = Instant(microseconds: .min)
    private var bootEnd = Instant(microseconds: .min)

    init(timing: LineTiming) { self.timing = timing }

    /// Whether the firmware does nothing at this time: it is stuck, or it has not started yet.
    func isDown(at now: Instant) -> Bool { now < stallEnd || now < bootEnd }

    /// When something that is due happens: not before the firmware works again.
    func whenUp(_ due: Instant) -> Instant { max(due, stallEnd, bootEnd) }

    private(set) var isTakingInput = true

    /// When the next bytes arrive at the firmware.
    var nextInput: Instant { input.first.map { max($0.due, stallEnd) } ?? .never }

    /// When to look again: for bytes that arrive at the host, or for the end of a stall.
    var nextOutput: Instant {
        let due = output.first.map { max($0.due, stallEnd) } ?? .never
        return isTakingInput ? due : min(due, stallEnd)
    }

    /// Puts bytes of the host on the line. The firmware gets them in sections that end with a delimiter, each at its own time.
    mutating func receive(_ bytes: [UInt8], delimiters: [UInt8], now: Instant) {
        guard now >= bootEnd else { return }
        let start = max(now.advanced(byMicroseconds: timing.latencyMicroseconds), inputEnd)
        var section: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            section.append(byte)
            guard delimiters.contains(byte) || index == bytes.count - 1 else { continue }
            inputEnd = start.advanced(byMicroseconds: Int64(index + 1) * timing.nanosecondsPerByte / 1000)
            input.append(Section(bytes: section, due: inputEnd))
            section = []
        }
    }

    mutating func removeInput() -> [UInt8] { input.isEmpty ? [] : input.removeFirst().bytes }

    /// Puts bytes for the host on the line.
    /// - Parameter delay: how long the firmware needs before, in microseconds.
    mutating func send(_ bytes: [UInt8], after delay: Int64 = 0, now: Instant) {
        let start = max(now.advanced(byMicroseconds: delay + timing.latencyMicroseconds), outputEnd)
        outputEnd = start.advanced(byMicroseconds: Int64(bytes.count) * timing.nanosecondsPerByte / 1000)
        output.append(Section(bytes: bytes, due: outputEnd))
    }

    mutating func takeOutput(now: Instant) -> [UInt8] {
        guard now >= stallEnd else { return [] }
        isTakingInput = true
        var bytes: [UInt8] = []
        while let first = output.first, first.due <= now {
            bytes += first.bytes
            output.removeFirst()
        }
        return bytes
    }

    mutating func stall(now: Instant) {
        stallEnd = now.advanced(byMicroseconds: StickFault.stallMicroseconds)
        isTakingInput = false
    }

    /// Forgets the bytes under way, and takes none until the firmware has started.
    mutating func restart(now: Instant) {
        input = []
        output = []
        inputEnd = now
        outputEnd = now
        bootEnd = now.advanced(byMicroseconds: Self.bootMicroseconds)
    }

    mutating func sendGarbage(_ random: inout SeededRandom, now: Instant) {
        let count = 16 + Int(random.next() % 112)
        send((0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }, now: now)
    }
}
