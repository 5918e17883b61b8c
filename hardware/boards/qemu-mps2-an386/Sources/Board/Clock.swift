import CBoard
import CollarARQ
import CollarWire

/// The time since the start, and sleep. Timer 0 runs freely at 25 MHz; timer 1 ends the sleep. (Counting interrupts of a timer
/// would run slow on a busy machine.) A test that holds the time says how long a sleep was; see ``Pins``.
public struct Clock: ~Copyable {
    private static let ticksPerMicrosecond: UInt32 = 25
    /// The longest sleep. Timer 0 wraps around in 171 s and must be read before.
    private static let longestSleepMicroseconds: Int64 = 60_000_000
    /// The interrupts of UART 0 … 2 and of timer 1.
    private static let interrupts: UInt32 = 0b10_0011_1111
    private static let interruptsOfPorts: UInt32 = 0b11_1111
    /// How often the board looks for the answer of a test, in microseconds.
    private static let answerMicroseconds: Int64 = 100

    private let counter = Register(at: 0x4000_0004)
    private let wakeControl = Register(at: 0x4000_1000)
    private let wakeCounter = Register(at: 0x4000_1004)
    private let wakeReload = Register(at: 0x4000_1008)
    private let wakeInterrupt = Register(at: 0x4000_100C)
    private let pending = Register(at: 0xE000_E280)
    private var lastCount: UInt32
    private var elapsed: Int64 = 0

    /// Starts the clock at 0.
    public init() {
        Register(at: 0x4000_0008).value = .max
        counter.value = .max
        Register(at: 0x4000_0000).value = 1
        Register(at: 0xE000_E100).value = Self.interrupts
        lastCount = counter.value
    }

    /// The time since the start.
    public mutating func now() -> Instant {
        // The timer counts down.
        let microseconds = (lastCount &- counter.value) / Self.ticksPerMicrosecond
        lastCount = lastCount &- microseconds * Self.ticksPerMicrosecond
        elapsed += Int64(widening: microseconds)
        return Instant(microseconds: elapsed)
    }

    /// Sleeps until `deadline`, or until a port has a byte or takes one again.
    public mutating func wait(until deadline: Instant) {
        let now = now()
        guard deadline > now else { return }
        if Pins.isTimeHeld {
            waitForTest(until: deadline, now: now)
        } else {
            sleep(microseconds: min(deadline.microseconds(since: now), Self.longestSleepMicroseconds))
        }
    }

    /// Sleeps until the test has said the time, or until a port has a byte: it comes at the present time.
    private mutating func waitForTest(until deadline: Instant, now: Instant) {
        Pins.ask(at: now, wakeAt: deadline)
        repeat {
            sleep(microseconds: Self.answerMicroseconds)
            if let answer = Pins.answer {
                elapsed = answer.microseconds
                break
            }
        } while pending.value & Self.interruptsOfPorts == 0
        Pins.withdraw()
        lastCount = counter.value
    }

    private func sleep(microseconds: Int64) {
        wakeReload.value = 0
        wakeCounter.value = UInt32(truncatingIfNeeded: microseconds) * Self.ticksPerMicrosecond
        wakeInterrupt.value = 1
        wakeControl.value = 0b1001
        wait_for_interrupt()
        wakeControl.value = 0
        wakeInterrupt.value = 1
        // A port whose byte has not been read keeps its interrupt pending, so that the next sleep ends at once.
        pending.value = Self.interrupts
    }
}
