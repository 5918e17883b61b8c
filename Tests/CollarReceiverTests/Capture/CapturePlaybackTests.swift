import CollarARQ
import CollarJournal
import FoundationEssentials
import Glibc
import Testing

@testable import CollarReceiver

/// The records of a capture one after the other, with the times that they set.
@Suite final class CapturePlaybackTests {
    private let folder = "/tmp/collar-link-playback-\(UUID().uuidString)"

    init() throws { try #require(unsafe mkdir(folder, 0o700) == 0) }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private func playback(_ bytes: [UInt8]) throws -> CapturePlayback {
        try Data(bytes).write(to: URL(filePath: "\(folder)/capture"))
        return try CapturePlayback(path: "\(folder)/capture")
    }

    @Test func eachRecordSetsTheTime() throws {
        var day = RecordedDay(receiverID: 5, opensPort: false)
        day.wait(seconds: 2)
        day.note(.due)
        day.wait(seconds: 3)
        day.note(.ended)
        let playback = try playback(day.bytes)
        #expect(playback.receiverID == 5)
        #expect(playback.now.unixMilliseconds == RecordedDay.start.unixMilliseconds)
        let start = playback.now.instant
        for (event, seconds) in [(.began(receiverID: 5), 0), (.due, 2), (.ended, 5)] as [(CaptureEvent, Int64)] {
            #expect(try playback.takeRecord()?.event == event)
            #expect(playback.now.instant.microseconds(since: start) == seconds * 1_000_000)
            #expect(playback.now.unixMilliseconds == RecordedDay.start.unixMilliseconds + seconds * 1000)
        }
        #expect(try playback.takeRecord() == nil)
        #expect(try playback.takeRecord() == nil)
        #expect(playback.now.instant.microseconds(since: start) == 5_000_000)
    }

    /// A record of the next round waits, and the time with it.
    @Test func aRoundEndsBeforeTheRecordOfTheNext() throws {
        var day = RecordedDay(opensPort: false)
        day.note(.read([1]))
        day.note(.read([2]), isSameRound: true)
        day.wait(seconds: 1)
        day.note(.read([3]))
        let playback = try playback(day.bytes)
        _ = try playback.takeRecord()
        let round = try #require(try playback.takeRecord()).round
        #expect(try playback.takeRecord(of: round)?.event == .read([2]))
        #expect(try playback.takeRecord(of: round) == nil)
        #expect(try playback.takeRecord(of: round) == nil)
        #expect(playback.now.unixMilliseconds == RecordedDay.start.unixMilliseconds)
        #expect(try playback.takeRecord()?.event == .read([3]))
        #expect(playback.now.unixMilliseconds == RecordedDay.start.unixMilliseconds + 1000)
    }

    @Test func aCaptureMayBeginWithAnyRecord() throws {
        var encoder = CaptureEncoder(at: RecordedDay.start)
        let bytes = encoder.start() + encoder.encode(CaptureRecord(time: RecordedDay.start, port: "a", event: .due))
        let playback = try playback(bytes)
        #expect(playback.receiverID == nil)
        #expect(try playback.takeRecord()?.event == .due)
        #expect(try playback.takeRecord() == nil)
    }

    @Test func whatIsCutIsLeftOutAndWhatIsDamagedIsSaid() throws {
        var day = RecordedDay(opensPort: false)
        day.note(.read([1]))
        let start = day.bytes.count
        day.note(.read([2]))
        let cut = try playback(Array(day.bytes.dropLast(5)))
        for _ in 0..<2 { #expect(try cut.takeRecord() != nil) }
        #expect(try cut.takeRecord() == nil)
        var bytes = day.bytes
        bytes[start + 4] = 3
        let damaged = try playback(bytes)
        for _ in 0..<2 { #expect(try damaged.takeRecord() != nil) }
        #expect(throws: ReceiverError.capture(path: "\(folder)/capture", CaptureError(problem: .blockLength(3), offset: start))) {
            try damaged.takeRecord()
        }
    }

    @Test func aFileThatIsNoCaptureIsNotPlayed() throws {
        #expect(throws: ReceiverError.captureUnreadable(path: "\(folder)/none", errorNumber: ENOENT)) {
            try CapturePlayback(path: "\(self.folder)/none")
        }
        #expect(throws: ReceiverError.capture(path: "\(folder)/capture", CaptureError(problem: .notACapture, offset: 0))) {
            try self.playback([])
        }
        let text = Array("a text that is no capture\n".utf8)
        let fault = CaptureError(problem: .notACapture, offset: 0, kind: FileKind(startingWith: text))
        #expect(throws: ReceiverError.capture(path: "\(folder)/capture", fault)) {
            try self.playback(text)
        }
    }

    /// Records that are longer than what is read at once.
    @Test func longRecordsAreReadInPieces() throws {
        var day = RecordedDay(opensPort: false)
        let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        for _ in 0..<3 { day.note(.read(long)) }
        let playback = try playback(day.bytes)
        _ = try playback.takeRecord()
        for _ in 0..<3 { #expect(try playback.takeRecord()?.event == .read(long)) }
        #expect(try playback.takeRecord() == nil)
    }
}
