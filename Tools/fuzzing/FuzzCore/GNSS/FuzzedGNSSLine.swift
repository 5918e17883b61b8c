import CollarARQ
import CollarFirmware
import CollarWire

/// The state machine of a GNSS receiver at a line with any bytes, and checks of what it does.
struct FuzzedGNSSLine {
    private var receiver: GNSSReceiver<UBXOrNMEAParser>
    private var random: SplitMix
    private var now = Instant(microseconds: 0)
    private var lastTime: Int64?
    /// Whether the receiver at the other end takes commands and answers them.
    private var isAnswering = false
    private var isConfigured = false
    private var answers: [UInt8] = []
    private(set) var readingCount = 0
    private(set) var commandCount = 0
    /// The first check that failed.
    private(set) var fault: String?

    init?(random: SplitMix) {
        guard let date = UTCDate(year: 2026, month: 11, day: 25) else { return nil }
        self.random = random
        receiver = GNSSReceiver(settings: GNSSSettings(earliestDate: date))
        receiver.switchOn(now: now)
        sendCommands()
    }

    /// Gives the receiver a byte; before some bytes time passes, or the receiver is switched off or on.
    mutating func receive(_ byte: UInt8) {
        if random.oneIn(20) { advance(to: now.advanced(byMicroseconds: Int64(random.below(random.oneIn(10) ? 90_000_000 : 300_000)))) }
        if random.oneIn(2000) { receiver.switchOff() }
        if random.oneIn(500) { receiver.switchOn(now: now) }
        note(receiver.receive(byte, now: now))
        sendCommands()
    }

    /// The receiver at the other end works: in the end its positions come out. It speaks NMEA until it is configured.
    mutating func workProperly() {
        isAnswering = true
        receiver.switchOn(now: now)
        sendCommands()
        let before = readingCount
        for second in 0..<8 as Range<Int> {
            let bytes = isConfigured ? position(second) : NMEAModel.sentence("GPRMC,12000\(second),A,4807.038,N,01131.000,E,,,010130,,")
            for byte in bytes { note(receiver.receive(byte, now: now)) }
            sendCommands()
            advance(to: now.advanced(byMicroseconds: 1_000_000))
        }
        // The first position may be lost in a damaged one, and the last ones are needed to see that.
        if readingCount < before + 5 { fail("a receiver that works gives \(readingCount - before) of 8 positions") }
        if receiver.state != .fix { fail("a receiver that works is \(receiver.state)") }
    }

    private func position(_ second: Int) -> [UInt8] {
        var payload = [UInt8](repeating: 0, count: 92)
        // 2031-01-01 at 12:00.
        payload.replaceSubrange(4..<12, with: [0xEF, 0x07, 1, 1, 12, 0, UInt8(second), 7])
        (payload[20], payload[21]) = (3, 1)
        return UBXModel.message([1, 7], payload)
    }

    private mutating func advance(to end: Instant) {
        var turns = 0
        while let deadline = receiver.nextDeadline, deadline < end {
            now = max(now, deadline)
            note(receiver.deadlineReached(now: now))
            sendCommands()
            if let next = receiver.nextDeadline, next <= now { return fail("the deadline \(deadline) does not end") }
            turns += 1
            // A command each second, and a few other deadlines.
            if turns > 250 { return fail("more than 250 deadlines in 90 seconds") }
        }
        now = end
    }

    private mutating func sendCommands() {
        for _ in 0..<40 {
            var isSent = false
            let command = [UInt8](capacity: GNSSReceiver<UBXOrNMEAParser>.longestCommandByteCount) { output in
                isSent = receiver.nextCommand(now: now, into: &output)
            }
            guard isSent else { return }
            commandCount += 1
            guard command.count >= 8, UBXModel.message([command[2], command[3]], Array(command[6..<(command.count - 2)])) == command else {
                return fail("the command \(command) is not valid")
            }
            guard isAnswering, command[2] == 6 else { continue }
            let isByKeys = command[3] == 0x8A
            if isByKeys { isConfigured = true }
            for byte in UBXModel.message([5, isByKeys ? 1 : 0], [command[2], command[3]]) { note(receiver.receive(byte, now: now)) }
        }
        fail("commands without end")
    }

    private mutating func note(_ reading: GNSSReading?) {
        guard let reading else { return }
        readingCount += 1
        // The day of the settings is 2026-11-25.
        if reading.unixMilliseconds < 1_795_564_800_000 { fail("a reading before the firmware was built: \(reading)") }
        if reading.unixMilliseconds == lastTime { fail("a reading twice: \(reading)") }
        if receiver.state == .off { fail("a reading while the receiver is off") }
        lastTime = reading.unixMilliseconds
    }

    private mutating func fail(_ text: String) { fault = fault ?? text }
}
