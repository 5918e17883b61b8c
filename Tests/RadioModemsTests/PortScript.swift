import CollarARQ

@testable import RadioModems

/// A port at which a test itself speaks and answers, in virtual time.
struct PortScript {
    private(set) var modem: RadioModem
    private(set) var now = Instant(microseconds: 0)
    private(set) var events: [ModemEvent] = []
    /// What the modem has written, and when, in milliseconds since the opening of the port.
    private(set) var written: [(bytes: [UInt8], milliseconds: Int64)] = []
    /// What is answered to written bytes.
    var answer: ([UInt8]) -> [UInt8] = { _ in [] }

    init(
        kind: RadioModem.PortKind = .remote, dialect: Dialect? = nil, remembered: Dialect? = nil,
        settings: RadioSettings? = StickBench.settings, limits: TransmitLimits? = TransmitLimits()
    ) {
        modem = RadioModem(
            ModemConfiguration(dialect: dialect, settings: settings, limits: limits), kind: kind, remembered: remembered, at: now)
        exchange()
    }

    var notices: [ModemNotice] { events.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }

    var strangers: [Stranger] { notices.compactMap { if case .stranger(let stranger) = $0 { stranger } else { nil } } }

    /// When the question to an RNode, with which each round begins, was written, in milliseconds.
    var rounds: [Int64] { written.filter { contains(RNodeCommand.detection, in: $0.bytes) }.map(\.milliseconds) }

    private func contains(_ frame: KISSFrame, in bytes: [UInt8]) -> Bool {
        var decoder = KISSFrame.Decoder()
        return bytes.contains { decoder.take($0) == frame }
    }

    mutating func tell(_ bytes: [UInt8]) {
        modem.receive(bytes.span, at: now)
        exchange()
    }

    mutating func tell(_ text: String) { tell(Array(text.utf8)) }

    /// Lets time pass until this long after the opening.
    mutating func run(untilMilliseconds milliseconds: Int64) {
        let end = Instant(microseconds: milliseconds * 1000)
        for _ in 0..<100_000 {
            guard let due = modem.nextDeadline, due <= end else { break }
            now = max(now, due)
            modem.deadlineReached(at: now)
            exchange()
        }
        now = end
    }

    private mutating func exchange() {
        for _ in 0..<100 {
            while let event = modem.nextEvent() { events.append(event) }
            let bytes = modem.takeBytes()
            if bytes.isEmpty { return }
            written.append((bytes, now.microseconds / 1000))
            let answered = answer(bytes)
            if !answered.isEmpty { modem.receive(answered.span, at: now) }
        }
    }
}

/// The answers of a MeshCore modem that takes every setting.
struct MeshCoreAnswers {
    var settings = StickBench.settings
    /// What the modem was given last; zeros after its start.
    var held = [UInt8](repeating: 0, count: 10)
    var name = "Heltec V3"

    /// A modem that is set up, and its answer to the question for its settings.
    static func ready() -> (script: ModemScript<MeshCoreModem>, held: KISSFrame) {
        var script = ModemScript<MeshCoreModem>()
        var answers = MeshCoreAnswers()
        script.converse { answers.answer($0) }
        _ = script.takeEvents()
        return (script, answers.answer(MeshCoreSetup.readBackQuestion).first ?? MeshCoreSetup.readBackQuestion)
    }

    mutating func answer(_ frame: KISSFrame) -> [KISSFrame] {
        guard frame.type == MeshCoreCommand.hardware, let command = frame.data.first else { return [] }
        let data = Array(frame.data.dropFirst())
        switch command {
        case MeshCoreCommand.ping: return [read(command)]
        case MeshCoreCommand.getName: return [read(command, Array(name.utf8))]
        case MeshCoreCommand.getVersion: return [read(command, [3])]
        case MeshCoreCommand.getRadio: return [read(command, held)]
        case MeshCoreCommand.setRadio:
            held = data
            return [MeshCoreCommand.frame(MeshCoreCommand.ok)]
        case MeshCoreCommand.setPower: return [MeshCoreCommand.frame(MeshCoreCommand.ok)]
        case MeshCoreCommand.getAirtime:
            let airtime = settings.profile(of: .kiss).airtimeMicroseconds(frameByteCount: Int(data.first ?? 0)) / 1000
            return [read(command, .littleEndian(UInt32(clamping: airtime)))]
        case MeshCoreCommand.setSignalReport: return [read(MeshCoreCommand.getSignalReport, data)]
        default: return []
        }
    }

    private func read(_ command: UInt8, _ data: [UInt8] = []) -> KISSFrame {
        MeshCoreCommand.frame(command | MeshCoreCommand.answerBit, data)
    }
}
