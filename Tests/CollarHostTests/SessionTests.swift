import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

/// The sessions of `Protocol/vectors/session`, in virtual time: the frames of the host, and what it stores and counts.
@Suite struct SessionTests {
    @Test func thereAreSessions() throws { #expect(try SessionVector.all().count >= 100) }

    @Test(arguments: try SessionVector.all())
    func aSession(vector: SessionVector) throws {
        let bench = try HostBench { $0.receiverID = vector.receiverId }
        let link = bench.openLink()
        var stored: [SessionVector.StoredFix] = []
        for part in vector.parts {
            bench.wait(until: part.time)
            let incoming = try bytes(part.radio)
            bench.host.receive(incoming.span, on: link, at: bench.time)
            // The radio's next frame comes after the answers, even if the host waits long for signal reports.
            var sent = bench.sent()
            while sent.count < part.answers.count, let due = bench.host.nextDeadline, due.microseconds(since: bench.now) < 5_000_000 {
                bench.wait(until: due)
                sent += bench.sent()
            }
            sent += bench.sent(until: part.end)
            stored += bench.entries().compactMap { entry -> SessionVector.StoredFix? in
                if case .fix(let record) = entry.content { SessionVector.StoredFix(record, of: entry.deviceID) } else { nil }
            }
            #expect(sent.sorted() == part.answers.sorted(), "the answers to what came in at \(part.time.microseconds / 1000) ms")
        }
        #expect(stored == vector.fixes)
        let later = try HostBench(on: bench.disk) {
            $0.emissionStart = .all
            $0.selection.hasGaps = true
        }
        let changes = later.entries().compactMap { entry -> GapChange? in if case .gap(let change) = entry.content { change } else { nil } }
        for log in vector.logs {
            let ofLog = changes.filter { $0.logID.rawValue == log.logId }
            #expect(ranges(.lost, ofLog) == log.lost)
            #expect(ranges(.elsewhere, ofLog) == log.elsewhere ?? [])
        }
        #expect(Set(changes.map(\.logID.rawValue)).isSubset(of: vector.logs.map(\.logId)))
        let counts = bench.host.statistics
        #expect(counts.damagedFrames == vector.count("check_failed", "stuffing", "too_short", "too_long"))
        #expect(counts.unknownFrames == vector.count("unknown_collar"))
        #expect(counts.unsupportedFrames == vector.count("unsupported_version", "critical_flags", "unknown_type"))
        #expect(counts.malformedFrames == vector.count("truncated", "trailing_bytes", "nonzero_padding", "invalid_field"))
        #expect(counts.unopenedFrames == vector.count("not_opened"))
    }

    /// The ranges of which this was told last, each with its first and last sequence.
    private func ranges(_ event: GapChange.Event, _ changes: [GapChange]) -> [[UInt32]] {
        var found = RangeSet<UInt32>()
        for change in changes {
            let range = change.range.first..<(change.range.last + 1)
            if change.event == event { found.insert(contentsOf: range) } else { found.remove(contentsOf: range) }
        }
        return found.ranges.map { [$0.lowerBound, $0.upperBound - 1] }
    }

    private func bytes(_ hexadecimal: String) throws -> [UInt8] {
        let digits = Array(hexadecimal)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            bytes.append(try #require(UInt8(String(digits[index...(index + 1)]), radix: 16)))
        }
        return bytes
    }
}

extension HostBench {
    /// Takes the frames that the host sends now, as hexadecimal digits.
    fileprivate func sent() -> [String] {
        host.deadlineReached(at: time)
        commit()
        return frames().map { $0.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
    }

    /// Takes the frames that the host sends before this time.
    fileprivate func sent(until end: Instant) -> [String] {
        var sent: [String] = []
        while let due = host.nextDeadline, due < end {
            wait(until: due)
            sent += self.sent()
        }
        return sent
    }
}

/// A session, as `Protocol/PROTOCOL.md` describes it.
struct SessionVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Step: Decodable {
        /// In milliseconds.
        let time: Int64
        let radio: String?
        let host: String?
    }

    struct StoredFix: Decodable, Equatable {
        let deviceId: String
        let logId: UInt32
        let sequence: UInt32
        let time: Int64
        let source, positionStep, altitudeStep: UInt8
        let latitude, longitude: Int32
        let altitude: Int32?
        let horizontalAccuracy, verticalAccuracy: UInt8?
        let speed: UInt32?
        let course, heading, battery: UInt8?

        init(_ record: JournaledFix, of deviceID: DeviceID) {
            let fix = record.fix
            let digits = String(deviceID.rawValue, radix: 16)
            deviceId = String(repeating: "0", count: 16 - digits.count) + digits
            logId = record.logID.rawValue
            sequence = fix.sequence
            time = fix.unixMilliseconds
            (source, positionStep, altitudeStep) = (fix.source.rawValue, fix.positionStep.rawValue, fix.altitudeStep.rawValue)
            (latitude, longitude, altitude) = (fix.latitudeSteps, fix.longitudeSteps, fix.altitudeSteps)
            (horizontalAccuracy, verticalAccuracy) = (fix.horizontalAccuracy?.rawValue, fix.verticalAccuracy?.rawValue)
            (speed, course, heading) = (fix.speedDecimetersPerSecond, fix.course?.steps, fix.heading?.steps)
            battery = fix.batteryPercent
        }
    }

    struct Log: Decodable {
        let logId: UInt32
        let lost: [[UInt32]]
        let elsewhere: [[UInt32]]?
    }

    let meaning: String
    let receiverId: UInt32
    let steps: [Step]
    let fixes: [StoredFix]
    let logs: [Log]
    let rejected: [String: Int]

    var testDescription: String { meaning }

    /// How often these errors occurred.
    func count(_ errors: String...) -> Int { errors.reduce(0) { $0 + (rejected[$1] ?? 0) } }

    /// Bytes of the radio, none at the opening, with the frames that the host sends before the next ones.
    struct Part {
        let time: Instant
        let radio: String
        var answers: [String] = []
        /// When the next bytes come.
        var end: Instant
    }

    var parts: [Part] {
        var parts: [Part] = []
        for step in steps {
            let time = Instant(microseconds: step.time * 1000)
            if let radio = step.radio {
                if !parts.isEmpty { parts[parts.count - 1].end = time }
                parts.append(Part(time: time, radio: radio, end: time.advanced(byMicroseconds: 10_000)))
            } else if let host = step.host {
                if parts.isEmpty { parts.append(Part(time: time, radio: "", end: time)) }
                parts[parts.count - 1].answers.append(host)
            }
        }
        return parts
    }

    static func all() throws -> [SessionVector] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder = root.appending(path: "Protocol/vectors/session").path
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted().map {
            try decoder.decode(SessionVector.self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
        }
    }
}
