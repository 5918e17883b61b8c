import CollarFormats
import CollarHost
import CollarJournal
import CollarReceiver
import Glibc

/// A capture, whose parts are packets: the time in 8 bytes, and the record.
enum CaptureParts {
    static let seeds: [Input] = {
        let opening = "report=now\nkind=remote\nrested=1\nround_trip_us=1000\nfrequency_hz=869525000\nbandwidth_hz=125000\nspreading_factor=7\n"
            + "coding_rate=5\npower_dbm=14\nlimited=1\nduty_cycle_ppm=100000\ndwell_us=400000\n"
        return ["dialect=rnode\n", "dialect=kiss\n", "dialect=rui3\n", ""].map { dialect in
            let time: UInt64 = 1_790_000_000_000_000
            let events: [(UInt8, String)] = [
                (0, "receiver=1234567\n"), (1, opening + dialect), (2, "\0AT+P2P=1:2:3\r\nOK\r\n\u{30}"), (10, ""), (3, "AT\r\n"), (9, "dialect=serial\n"),
                (2, "\0\u{21}abc\0"), (5, ""), (8, ""),
            ]
            return events.enumerated().map { index, event in
                bytes(time + 1000 * UInt64(index)) + [1, event.0, 0, UInt8(index)] + bytes(time / 1000 + UInt64(index)) + Array(event.1.utf8)
            }
        }
    }()

    private static func bytes(_ number: UInt64) -> [UInt8] { stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) } }

    /// The file.
    static func capture(_ input: Input) -> [UInt8] {
        var file = block(0x0A0D_0D0A, word(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
        file += block(1, [150, 0, 0, 0, 0, 0, 0, 0, 2, 0, 4, 0] + Array("port".utf8) + [9, 0, 1, 0, 6, 0, 0, 0])
        for part in input {
            let time = part.prefix(8) + [UInt8](repeating: 0, count: max(0, 8 - part.count))
            let record = Array(part.dropFirst(8))
            let length = word(UInt32(record.count))
            let padding = [UInt8](repeating: 0, count: (4 - record.count % 4) % 4)
            file += block(6, word(0) + time[..<4].reversed() + time[4..<8].reversed() + length + length + record + padding)
        }
        return file
    }

    private static func word(_ number: UInt32) -> [UInt8] { [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) } }

    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let length = word(UInt32(body.count + 12))
        return word(type) + length + body + length
    }
}

/// The records of captures, and the frames in them.
struct CaptureBorder: Border {
    let name = "captures"
    let seeds = CaptureParts.seeds
    let binaryByteCount = 20

    func run(_ input: Input) {
        var reader = CaptureReader()
        var frames = CaptureFrames()
        reader.append(CaptureParts.capture(input))
        do throws(CaptureError) {
            while let record = try reader.next() { _ = frames.take(record, at: reader.recordOffset) }
            try reader.finish()
        } catch {}
    }
}

/// Whole receivers that play captures, as `--read --keep 1` does.
struct PlaybackBorder: Border {
    let name = "playback"
    let seeds = CaptureParts.seeds
    let isSlow = true
    /// The times.
    let binaryByteCount = 20
    private let scratch = Scratch()

    func run(_ input: Input) {
        let path = scratch.path + "/capture"
        scratch.write(CaptureParts.capture(input), to: path)
        let output = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(output) }
        scratch.withDirectory("state") { state in
            var configuration = ReceiverConfiguration(stateDirectory: state)
            configuration.playbackPath = path
            configuration.output = output
            configuration.host.retention = Retention(days: 1)
            configuration.write(Set(LineKind.allCases))
            do throws(ReceiverError) { try Receiver(configuration) { _ = $0.message }.run() } catch { _ = error.message }
        }
    }
}
