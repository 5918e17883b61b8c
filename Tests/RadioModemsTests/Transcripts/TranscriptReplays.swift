import CollarARQ
import CollarSimulator
import CollarWire
@testable import RadioModems

/// Plays the firmware of a transcript to a modem, in virtual time. Each thing that the modem writes gets the answer of the
/// transcript: of the next place there that has it, or else of the last one before.
struct DriverReplay {
    private struct Exchange {
        let host: String
        let section: Int
        var answers: [String] = []
        var packet: [UInt8]?
        var reports: [String] = []
    }

    /// How long the firmware takes for an answer, in microseconds.
    private static let answerMicroseconds: Int64 = 3000

    private let transcript: Transcript
    private var exchanges: [Exchange] = []
    private var modem: RadioModem
    private var now = Instant(microseconds: 0)
    private var reader: TranscriptReader
    private var section = 0
    private var cursor = 0
    /// What the firmware writes, and when it arrives.
    private var incoming: [(due: Instant, bytes: [UInt8])] = []
    private(set) var notices: [ModemNotice] = []
    private(set) var packets: [[UInt8]] = []
    private(set) var signals: [RadioSignal?] = []
    /// The packets that the firmware has sent.
    private(set) var sent: [[UInt8]] = []
    /// What the modem wrote that the transcript does not have.
    private(set) var unknown: [String] = []

    init(_ transcript: Transcript) {
        self.transcript = transcript
        reader = TranscriptReader(transcript.dialect)
        modem = RadioModem(
            ModemConfiguration(dialect: transcript.dialect, settings: transcript.settings, limits: TransmitLimits()), kind: .remote,
            at: now)
        var isAnswer = false
        var section = 0
        for item in transcript.items {
            switch item {
            case .host(let text):
                exchanges.append(Exchange(host: text, section: section))
                isAnswer = true
            case .firmware(let text) where isAnswer:
                if exchanges[exchanges.count - 1].packet == nil {
                    exchanges[exchanges.count - 1].answers.append(text)
                } else {
                    exchanges[exchanges.count - 1].reports.append(text)
                }
            case .firmware: break
            case .air(let packet):
                // A host may have written something in vain after the packet.
                guard let index = exchanges.lastIndex(where: { $0.packet == nil && writes($0.host, packet) }) else { break }
                let asked = exchanges.remove(at: index)
                exchanges.append(asked)
                exchanges[exchanges.count - 1].packet = packet
                isAnswer = true
            case .hear: isAnswer = false
            case .restart:
                isAnswer = false
                section += 1
            }
        }
        exchange()
    }

    /// Whether the host writes a packet with this line or frame.
    private func writes(_ host: String, _ packet: [UInt8]) -> Bool {
        var tap = PacketTap(transcript.dialect)
        let bytes = transcript.encoded(host)
        return tap.take(bytes.span).contains { if case .packet(let found) = $0 { found == packet } else { false } }
    }

    /// Lets time pass.
    mutating func run(milliseconds: Int64) {
        let end = now.advanced(byMicroseconds: milliseconds * 1000)
        while let due = [modem.nextDeadline, incoming.map(\.due).min()].compactMap({ $0 }).min(), due < end {
            now = max(due, now.advanced(byMicroseconds: 1))
            let arrived = incoming.filter { $0.due <= now }
            incoming.removeAll { $0.due <= now }
            for part in arrived { modem.receive(part.bytes.span, at: now) }
            if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
            exchange()
        }
        now = end
    }

    /// The host sends a packet.
    mutating func send(_ packet: [UInt8]) {
        modem.send(packet)
        modem.flush(at: now)
        exchange()
    }

    /// The firmware writes something by itself.
    mutating func write(_ units: [String]) {
        for unit in units { incoming.append((now, transcript.encoded(unit))) }
    }

    /// The firmware has restarted.
    mutating func restart() {
        section += 1
        cursor = exchanges.firstIndex { $0.section == section } ?? exchanges.count
        incoming = []
    }

    private mutating func exchange() {
        for unit in reader.take(modem.takeBytes()) { answer(unit) }
        while let event = modem.nextEvent() {
            switch event {
            case .notice(let notice): notices.append(notice)
            case .packet(let packet, let signal):
                packets.append(packet)
                signals.append(signal)
            case .serialLine, .serialBytes, .ready, .timing, .transmits, .airtime: break
            }
        }
    }

    private mutating func answer(_ unit: String) {
        let known = exchanges.indices.filter { exchanges[$0].section <= section && exchanges[$0].host == unit }
        guard let index = known.first(where: { $0 >= cursor }) ?? known.last else { return unknown.append(unit) }
        if index >= cursor { cursor = index + 1 }
        let exchange = exchanges[index]
        var due = now.advanced(byMicroseconds: DriverReplay.answerMicroseconds)
        for answer in exchange.answers { incoming.append((due, transcript.encoded(answer))) }
        guard let packet = exchange.packet else { return }
        sent.append(packet)
        let profile = transcript.settings.profile(of: transcript.dialect)
        due = due.advanced(byMicroseconds: profile.airtimeMicroseconds(frameByteCount: packet.count) + DriverReplay.answerMicroseconds)
        for report in exchange.reports { incoming.append((due, transcript.encoded(report))) }
    }
}

/// Plays the host of a transcript to a simulated stick, in virtual time.
struct StickReplay {
    /// The longest wait for something that the transcript has, in microseconds.
    private static let patience: Int64 = 5_000_000
    /// What a board needs to start, in microseconds, at most.
    private static let startMicroseconds: Int64 = 2_500_000

    /// What RNode firmware writes about once a second.
    private static let statistics = "C0 25"

    private let transcript: Transcript
    private var stick: any BaseStick
    private var now = Instant(microseconds: 0)
    private var reader: TranscriptReader
    private var transmissionEnd: Instant?
    private var written: [String] = []
    private var sent: [[UInt8]] = []
    /// Where the stick and the transcript differ.
    private(set) var differences: [String] = []

    init(_ transcript: Transcript, _ stick: any BaseStick) {
        self.transcript = transcript
        self.stick = stick
        reader = TranscriptReader(transcript.dialect)
    }

    /// Plays the whole dialogue.
    mutating func play() {
        for (index, item) in transcript.items.enumerated() {
            switch item {
            case .host(let text):
                // Nothing may be left to say, unless the host writes while the stick is at work.
                if !isFollowedByPacket(index) { wait(microseconds: 20_000) { _ in false } }
                expectSilence(before: text)
                stick.receive(transcript.encoded(text), now: now)
            case .firmware(let text):
                wait(microseconds: StickReplay.patience) { !$0.written.isEmpty }
                let actual = written.isEmpty ? "nothing" : written.removeFirst()
                if !Transcript.matches(text, actual) { differences.append("line \(index): \(text), but \(actual)") }
            case .hear(let packet, let signal):
                expectSilence(before: "a packet")
                stick.hear(transcript.dialect == .rnode ? [0xA0] + packet : packet, signal: signal, now: now)
            case .air(let packet):
                wait(microseconds: StickReplay.patience) { !$0.sent.isEmpty }
                let actual = sent.isEmpty ? nil : sent.removeFirst()
                if actual != packet { differences.append("line \(index): sends \(packet), but \(actual ?? [])") }
                wait(microseconds: StickReplay.patience) { $0.transmissionEnd == nil }
            case .restart:
                stick.cause(.reset, now: now)
                wait(microseconds: StickReplay.startMicroseconds) { _ in false }
            }
        }
        wait(microseconds: 1_000_000) { _ in false }
        expectSilence(before: "the end")
        if !sent.isEmpty { differences.append("sends \(sent)") }
    }

    /// Whether a packet of the host is on its way to the air at a place of the dialogue.
    private func isFollowedByPacket(_ index: Int) -> Bool {
        transcript.items[index...].prefix(3).contains { if case .air = $0 { true } else { false } }
    }

    private mutating func expectSilence(before next: String) {
        guard !written.isEmpty else { return }
        differences.append("before \(next) it says \(written)")
        written = []
    }

    /// Lets time pass until a condition holds.
    private mutating func wait(microseconds: Int64, until isEnough: (StickReplay) -> Bool) {
        let end = now.advanced(byMicroseconds: microseconds)
        collect()
        while !isEnough(self) {
            let due = min(stick.nextDeadline, transmissionEnd ?? .never)
            guard due <= end else {
                now = end
                return
            }
            now = max(now, due)
            if let over = transmissionEnd, over <= now {
                transmissionEnd = nil
                stick.transmissionEnded(now: now)
            }
            stick.advance(to: now)
            collect()
        }
    }

    private mutating func collect() {
        if transmissionEnd == nil, let next = stick.nextTransmission(now: now) {
            // RNode firmware puts a byte in front, which differs by chance.
            sent.append(transcript.dialect == .rnode ? Array(next.packet.dropFirst()) : next.packet)
            transmissionEnd = now.advanced(byMicroseconds: next.airtimeMicroseconds)
        }
        let units = reader.take(stick.takeOutput(now: now))
        written += transcript.dialect == .rnode ? units.filter { !$0.hasPrefix(StickReplay.statistics) } : units
    }
}
