import CollarARQ
import CollarWire
import CollarSimulator
import Testing

@testable import RadioModems

@Suite("Transcripts of published firmware")
struct TranscriptTests {
    @Test("every file is read")
    func files() {
        #expect(Transcript.all.count >= 10)
    }

    @Test("the driver is led to its working state, and packets pass both ways", arguments: Transcript.all)
    func driver(transcript: Transcript) {
        var replay = DriverReplay(transcript)
        replay.run(milliseconds: 10_000)
        let turnaround = transcript.settings.turnaroundMicroseconds(of: transcript.dialect)
        let ready = ModemNotice.ready(transcript.dialect, transcript.settings, turnaroundMicroseconds: turnaround)
        #expect(replay.notices.contains(ready), "\(replay.notices)")
        var heard: [[UInt8]] = []
        var sent: [[UInt8]] = []
        var restartCount = 0
        for (index, item) in transcript.items.enumerated() {
            let following = transcript.items[(index + 1)...].prefix { if case .firmware = $0 { true } else { false } }
            let units = following.compactMap { if case .firmware(let text) = $0 { text } else { nil } }
            switch item {
            case .hear(let packet, let signal):
                heard.append(packet)
                replay.write(units)
                replay.run(milliseconds: 200)
                #expect(replay.packets.last == packet)
                #expect(replay.signals.last == signal)
            case .air(let packet):
                sent.append(packet)
                replay.send(packet)
                replay.run(milliseconds: 3000)
                #expect(replay.sent == sent)
            case .restart:
                restartCount += 1
                replay.restart()
                replay.write(units)
                replay.run(milliseconds: 20_000)
            case .host, .firmware: break
            }
        }
        replay.run(milliseconds: 120_000)
        #expect(replay.unknown.isEmpty, "the driver writes what the transcript does not have")
        #expect(replay.packets == heard)
        #expect(replay.sent == sent)
        #expect(replay.notices.filter { $0 == .restarted(transcript.dialect) }.count == restartCount)
        #expect(replay.notices.filter { $0 == ready }.count == restartCount + 1)
        let harmless = replay.notices.filter { notice in
            switch notice {
            case .found, .ready, .restarted: true
            default: false
            }
        }
        #expect(replay.notices == harmless)
    }

    @Test("the simulated stick of the release says the same", arguments: Transcript.all)
    func stick(transcript: Transcript) throws {
        let release = try #require(StickRelease(rawValue: transcript.release, of: transcript.dialect))
        var replay = StickReplay(
            transcript, transcript.dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), release: release, seed: 3))
        replay.play()
        #expect(replay.differences.isEmpty, "\(replay.differences.joined(separator: "\n"))")
    }
}
