import CBoard
import CollarFirmware

extension ResetCause {
    /// Left in retained memory by a program that runs, and by one that resets itself. After power came on it holds zero.
    private static var runMark: UInt32 { 0x5255_4E31 }
    private static var programMark: UInt32 { 0x5052_4F47 }

    /// Why this start happened, as retained memory tells it. From the next call on it tells of a reset from outside.
    public static func take() -> ResetCause {
        let mark = retained_start_mark()
        set_start_mark(runMark)
        let record = CrashRecord(words: [retained_crash_word(0), retained_crash_word(1), retained_crash_word(2)])
        clear_crash_words()
        if let record { return .fault(record) }
        return mark == runMark ? .external : mark == programMark ? .program : .powerOn
    }

    /// Resets the microcontroller, because the program wants it.
    public static func resetByProgram() {
        set_start_mark(programMark)
        Register(at: 0xE000_ED0C).value = 0x05FA_0004
        while true {}
    }
}
