import CollarARQ
import CollarFirmware
import CollarWire

/// Words after the flash, in the memory that the emulator keeps in a file: what a test sees of the board, and by which it can hold the
/// board's time.
///
/// | word | meaning |
/// |---|---|
/// | 0 | 1 if the test holds the time, else 0 |
/// | 1 | the supply of the GNSS receiver: 0 off, 1 backup, 2 on |
/// | 2, 3 | until when the radio listens, in microseconds; 0 if it sleeps |
/// | 4 … 9 | how many bytes were read from and written to port 0, port 1 and port 2 |
/// | 10 | the number of the board's last question for the time |
/// | 11, 12 | the time of the board when it asked, in microseconds |
/// | 13, 14 | when it wants to be woken, in microseconds |
/// | 15 | the number of the last question that the test has answered, or the board has withdrawn |
/// | 16, 17 | the answer: the time in microseconds |
/// | 18, 19 | until when the radio senses the channel, or last did, in microseconds |
public enum Pins {
    private static let start: UInt = 0x2110_2000

    private static func word(_ number: Int) -> Register { Register(at: start + 4 * UInt(truncatingIfNeeded: number)) }

    private static func write(_ instant: Instant, at number: Int) {
        word(number).value = UInt32(truncatingIfNeeded: instant.microseconds)
        word(number + 1).value = UInt32(truncatingIfNeeded: instant.microseconds &>> 32)
    }

    /// Gives the GNSS receiver its supply.
    public static func set(_ supply: GNSSSupply) {
        word(1).value = supply == .on ? 2 : supply == .backup ? 1 : 0
    }

    /// Lets the radio listen until a time; nil: lets it sleep.
    public static func listen(until deadline: Instant?) { write(deadline ?? Instant(microseconds: 0), at: 2) }

    /// Lets the radio sense the channel until a time.
    public static func sense(until deadline: Instant) { write(deadline, at: 18) }

    /// The counters of the bytes that were read from a port and written to it.
    static func counters(ofPort number: Int) -> (read: Register, written: Register) {
        (word(4 + 2 * number), word(5 + 2 * number))
    }

    // MARK: The time of a test

    static var isTimeHeld: Bool { word(0).value == 1 }

    /// Asks the test for the time.
    static func ask(at now: Instant, wakeAt deadline: Instant) {
        write(now, at: 11)
        write(deadline, at: 13)
        word(10).value &+= 1
    }

    /// Withdraws the question: the board is awake.
    static func withdraw() { word(15).value = word(10).value }

    /// The answer of the test; nil while there is none.
    static var answer: Instant? {
        guard word(15).value == word(10).value else { return nil }
        return Instant(microseconds: Int64(widening: word(17).value) &<< 32 | Int64(widening: word(16).value))
    }
}
