import CollarARQ
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
            case .serialLine, .serialBytes, .ready, .timing, .transmits: break
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
