import CollarARQ
import CollarSimulator
import RadioModems

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
