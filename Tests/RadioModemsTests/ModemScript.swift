import CollarARQ

@testable import RadioModems

/// A modem of one dialect at whose line a test itself speaks, in virtual time.
struct ModemScript<Modem: StickModem> {
    private(set) var modem: Modem
    private(set) var now = Instant(microseconds: 0)
    private var decoder = KISSFrame.Decoder()

    init(
        settings: RadioSettings = StickBench.settings, limits: TransmitLimits? = TransmitLimits(), kind: RadioModem.PortKind = .board,
        roundTripMicroseconds: Int64 = 0
    ) {
        modem = Modem(
            settings, limits: limits, isRested: true, delay: LineDelay(kind, roundTripMicroseconds: roundTripMicroseconds), at: now)
        modem.start(at: now)
    }

    /// When the modem wants to be called next, in milliseconds since the beginning; nil if nothing is expected.
    var deadlineMilliseconds: Int64? { modem.nextDeadline.map { $0.microseconds / 1000 } }

    mutating func tell(_ bytes: [UInt8]) { modem.receive(bytes.span, at: now) }

    mutating func tell(_ frame: KISSFrame) {
        var line: [UInt8] = []
        frame.append(to: &line)
        tell(line)
    }

    /// Whole lines of text.
    mutating func tell(_ lines: String...) { tell(Array(lines.map { "\r\n\($0)\r\n" }.joined().utf8)) }

    mutating func send(_ answer: [UInt8]...) { modem.send(answer, at: now) }

    /// The time goes on without a call of the modem, as in a program that is held up.
    mutating func stall(microseconds: Int64) { now = now.advanced(byMicroseconds: microseconds) }

    mutating func callDeadline() { modem.deadlineReached(at: now) }

    /// Lets time pass, and calls the modem when it wants to be called.
    mutating func pass(microseconds: Int64) {
        let end = now.advanced(byMicroseconds: microseconds)
        // The count ends a test of a modem whose deadline does not move.
        for _ in 0..<100_000 {
            guard let due = modem.nextDeadline, due <= end else { break }
            now = max(now, due)
            modem.deadlineReached(at: now)
        }
        now = end
    }

    mutating func pass(milliseconds: Int64) { pass(microseconds: milliseconds * 1000) }

    mutating func takeBytes() -> [UInt8] {
        defer { modem.output.bytes = [] }
        return modem.output.bytes
    }

    /// The frames that the modem has written since the last call.
    mutating func takeFrames() -> [KISSFrame] { takeBytes().compactMap { decoder.take($0) } }

    /// The lines of text that the modem has written since the last call, without empty ones.
    mutating func takeLines() -> [String] {
        String(decoding: takeBytes(), as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }

    mutating func takeEvents() -> [ModemEvent] {
        defer { modem.output.events = [] }
        return modem.output.events
    }

    mutating func takeNotices() -> [ModemNotice] {
        takeEvents().compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }

    /// Answers the frames of the modem until it writes no more.
    /// - Returns: the frames that it has written.
    @discardableResult mutating func converse(_ answer: (KISSFrame) -> [KISSFrame]) -> [KISSFrame] {
        var asked: [KISSFrame] = []
        for _ in 0..<100 {
            let frames = takeFrames()
            if frames.isEmpty { break }
            asked += frames
            for frame in frames.flatMap(answer) { tell(frame) }
        }
        return asked
    }

    /// Answers the lines of the modem until it writes no more.
    /// - Returns: the lines that it has written.
    @discardableResult mutating func converse(_ answer: (String) -> [String]) -> [String] {
        var asked: [String] = []
        for _ in 0..<100 {
            let lines = takeLines()
            if lines.isEmpty { break }
            asked += lines
            for line in lines.flatMap(answer) { tell(line) }
        }
        return asked
    }
}
