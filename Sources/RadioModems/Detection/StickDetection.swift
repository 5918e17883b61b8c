import CollarARQ
import CollarWire

/// Finds out which dialect the stick at a port speaks.
///
/// It listens first, and then asks in an order in which no question can do harm. A frame of the serial line, which begins with
/// zero, would be transmitted by a KISS modem, so it is sent only if nothing else answers. An RNode would take the question to a
/// KISS modem for a change of its radio's state, so an RNode is asked first.
struct StickDetection: Sendable {
    enum Result: Equatable, Sendable {
        case found(Dialect)
        case stranger(Stranger)
        /// Nothing answers, and nothing speaks: it should be a serial line.
        case nothingAnswers
    }

    private enum Phase: Int, CaseIterable, Sendable { case listening, askingRNode, askingKISS, askingRUI3 }

    /// Times, in microseconds.
    struct Timing: Equatable, Sendable {
        /// Time to listen before the first question.
        var listening: Int64
        /// Time that a stick has for an answer before the next question.
        var answer: Int64
        /// Time after the last question, in which an answer to any of them may come.
        var lastAnswer: Int64
        /// Time that a board needs to start after its port is opened; 0 if opening restarts no board.
        var start: Int64

        static func of(_ kind: RadioModem.PortKind) -> Timing {
            switch kind {
            case .board: Timing(listening: 300_000, answer: 400_000, lastAnswer: 400_000, start: 2_500_000)
            case .remote: Timing(listening: 150_000, answer: 250_000, lastAnswer: 250_000, start: 0)
            // The questions follow each other as fast as on a pseudo-terminal: their order alone keeps them harmless.
            case .network: Timing(listening: 150_000, answer: 250_000, lastAnswer: 1_500_000, start: 0)
            }
        }
    }

    private(set) var output: [UInt8] = []
    /// When to call ``deadlineReached(at:)``.
    private(set) var deadline: Instant
    private(set) var heard = HeardBytes()
    private var phase = Phase.listening
    private let timing: Timing
    private let remembered: Dialect?
    private let stranger: Stranger?
    private let startedAt: Instant
    private var isSecondRound = false
    /// Whether frames of the serial line may go out between the questions.
    private var isRepeated = false

    /// - Parameter stranger: what an earlier examination of the port found. Silence does not refute it.
    init(remembered: Dialect?, after stranger: Stranger?, timing: Timing, at now: Instant) {
        self.remembered = remembered
        self.stranger = stranger
        self.timing = timing
        startedAt = now
        deadline = now.advanced(byMicroseconds: timing.listening)
    }

    /// Whether a question was written, and before it the end of an unfinished frame.
    var hasAsked: Bool { phase != .listening || isSecondRound }

    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Asks all questions again from a time on. Frames of the serial line may go out meanwhile.
    mutating func `repeat`(at time: Instant) {
        isRepeated = true
        isSecondRound = true
        phase = .listening
        deadline = time
    }

    mutating func receive(_ bytes: Span<UInt8>, at now: Instant) -> Result? {
        switch heard.take(bytes) {
        case .rnode: return .found(.rnode)
        case .kiss: return .found(.kiss)
        case .serial: return .found(.serial)
        case .nmea: return .stranger(.nmea)
        case .commandStatus: return phase == .askingRUI3 ? .found(.rui3) : nil
        case nil: return nil
        }
    }

    /// The next question is due, or the questions are at an end.
    mutating func deadlineReached(at now: Instant) -> Result? {
        guard now >= deadline else { return nil }
        guard let next = Phase(rawValue: phase.rawValue + 1) else { return end(at: now) }
        phase = next
        deadline = now.advanced(byMicroseconds: timing.answer)
        switch phase {
        case .listening: break
        case .askingRNode:
            output += KISSFrame.abandonment
            ask(RNodeCommand.detection)
        case .askingKISS: ask(MeshCoreCommand.frame(MeshCoreCommand.ping))
        case .askingRUI3:
            deadline = now.advanced(byMicroseconds: timing.lastAnswer)
            // The question to the companion firmware is an unfinished command to RUI3, which its setup ends. Other firmware drops it.
            output += Array("\r\nAT\r\n".utf8) + HeardBytes.companionQuestion
        }
        return nil
    }

    /// A frame of the serial line begins with zero, so a KISS modem would transmit it if it were the first after a delimiter. After
    /// 0xFF it is ignored.
    private mutating func ask(_ frame: KISSFrame) {
        frame.append(to: &output)
        if isRepeated { output.append(0xFF) }
    }

    private mutating func end(at now: Instant) -> Result? {
        let startEnd = startedAt.advanced(byMicroseconds: timing.start)
        // A board that has just restarted answers nothing. One on which the serial line was used before needs no such wait.
        if !isSecondRound, timing.start > 0, remembered != .serial || heard.isBootText {
            isSecondRound = true
            phase = .listening
            deadline = max(startEnd, now.advanced(byMicroseconds: timing.listening))
            return nil
        }
        let known = remembered == .serial ? nil : remembered.map(Stranger.silent)
        switch heard.stranger {
        // The rest of a frame of the serial line may contain a KISS frame by chance. A KISS modem would have answered.
        // Some adapters of a line with two wires hear what they send.
        case .silentKISS where remembered == .serial, .echo where remembered == .serial: return .nothingAnswers
        case .silentKISS: return .stranger(known ?? .silentKISS)
        case let other?: return .stranger(other)
        case nil: return (known ?? stranger).map(Result.stranger) ?? .nothingAnswers
        }
    }
}
