import CollarARQ
import CollarFirmware
import Glibc
import LinuxSystem

/// The button of a collar: any key of an input device, and signals in its place.
struct Button {
    /// How long a signal presses for a short press, in microseconds.
    private static let shortPress: Int64 = 200_000

    private let descriptor: Int32?
    private var pressedKeys: Set<UInt16> = []
    /// The ends of presses by signals that were not shown yet; between two presses the button is released as long as it was pressed.
    private var presses: [(start: Instant, end: Instant)] = []
    /// Whether the first press was shown.
    private var isFirstShown = false

    /// - Parameter path: the input device, such as `/dev/input/event0`; nil for none.
    init(path: String?) throws(SystemError) {
        guard let path else {
            descriptor = nil
            return
        }
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(operation: "open", errno: errno) }
        self.descriptor = descriptor
    }

    /// The descriptor to wait for; nil for none.
    var fileDescriptor: Int32? { descriptor }

    /// Presses the button, after the presses before.
    mutating func press(_ press: ButtonDecoder.Press, at now: Instant) {
        for _ in 0..<(press == .double ? 2 : 1) {
            let start = max(now, presses.last?.end.advanced(byMicroseconds: Button.shortPress) ?? now)
            let duration = press == .long ? ButtonDecoder.longMicroseconds + Button.shortPress : Button.shortPress
            presses.append((start, start.advanced(byMicroseconds: duration)))
        }
    }

    /// When the button changes by itself; nil if it does not.
    func nextDeadline(at now: Instant) -> Instant? { presses.first.map { isFirstShown ? $0.end : max(now, $0.start) } }

    mutating func isPressed(at now: Instant) -> Bool {
        readKeys()
        // One press is shown at a time, and each is, for its whole time, also if the program is late.
        if let first = presses.first, isFirstShown, now >= first.end {
            presses.removeFirst()
            isFirstShown = false
        } else if let first = presses.first, !isFirstShown, now >= first.start {
            let delay = now.microseconds(since: first.start)
            presses = presses.map { ($0.start.advanced(byMicroseconds: delay), $0.end.advanced(byMicroseconds: delay)) }
            isFirstShown = true
        }
        return !pressedKeys.isEmpty || isFirstShown
    }

    /// Reads events: two numbers of the size of a word for the time, then the type, the code and the value, in the byte order of the
    /// machine, which is the least significant byte first. EV_KEY is 1; the value is 0 for a release and 1 for a press. Source:
    /// linux/input.h, `struct input_event`.
    private mutating func readKeys() {
        guard let descriptor else { return }
        let start = 2 * MemoryLayout<Int>.size
        var event = [UInt8](repeating: 0, count: start + 8)
        while unsafe event.withUnsafeMutableBytes({ unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }) == event.count {
            let code = UInt16(event[start + 2]) | UInt16(event[start + 3]) << 8
            guard event[start] == 1, event[start + 1] == 0 else { continue }
            if event[start + 4] == 1 { pressedKeys.insert(code) }
            if event[start + 4] == 0 { pressedKeys.remove(code) }
        }
    }
}
