import CollarARQ
import CollarFormats
import CollarHost
import CollarJournal
import Glibc
import LinuxSystem
import Testing

@testable import CollarReceiver

/// Consumers that do not read for a time, and more lines than are written at once.
@Suite struct ReceiverConsumerTests {
    /// A day on which many fixes come in at once.
    private func day(_ count: UInt32) throws -> RecordedDay {
        let collar = RecordedCollar()
        var day = RecordedDay()
        day.receive(try collar.identity(next: count))
        for sequence in 0..<count { day.receive(try collar.fix(sequence), isSameRound: true) }
        day.wait(seconds: 1)
        day.note(.due)
        return day
    }

    /// The reader of a pipe reads only what waits whenever figures are asked for. It gets each line once, and the next run repeats none.
    @Test func aConsumerThatReadsSlowlyGetsEachLineOnce() throws {
        let count = 1000
        let bench = try ReceiverBench([.fix, .stats]) { $0.reportsFigures = true }
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { for end in ends { close(end) } }
        try #require(fcntl(reading, F_SETFL, O_NONBLOCK) == 0)
        var bytes: [UInt8] = []
        var (readings, mostWaiting) = (0, 0)
        bench.onNotice = { receiver, notice in
            switch notice {
            case .host(.collar(_, .heard)): try #require(raise(SIGUSR1) == 0)
            case .figures where readings < 1000:
                readings += 1
                let some = SystemFiles.read(from: reading, byteLimit: 30_000) ?? []
                mostWaiting = max(mostWaiting, some.count)
                bytes += some
                // The receiver waits for its consumer: something must wake it up until all is read.
                if receiver.statistics.lines < count { try #require(raise(SIGUSR1) == 0) }
            default: break
            }
        }
        try bench.write(try day(UInt32(count)).bytes, to: "capture")
        #expect(try bench.run(writingTo: writing).error == nil)
        while let some = SystemFiles.read(from: reading), !some.isEmpty { bytes += some }
        #expect(readings > 5 && mostWaiting == 30_000)
        let sequences = try bytes.split(separator: UInt8(ascii: "\n")).compactMap { try JSONScanner.value(of: Array($0)).number("seq") }
        #expect(sequences == Array(0..<count))
        #expect(try bench.play(RecordedDay()).sequences() == [])
    }

    /// A backlog that needs many rounds of writing, with and without new fixes.
    @Test func aLongBacklogComesOutWholeAndInItsOrder() throws {
        let bench = try ReceiverBench([.link])
        _ = try bench.play(try day(4000))
        bench.configuration.write([.fix])
        var more = RecordedDay()
        let collar = RecordedCollar()
        more.receive(try collar.identity(next: 4010))
        for sequence in 4000..<4010 as Range<UInt32> { more.receive(try collar.fix(sequence)) }
        let run = try bench.play(more)
        #expect(try run.sequences() == Array(0..<4010))
        #expect(run.statistics.lines == 4010)
        #expect(try bench.play(RecordedDay()).sequences() == [])
    }
}
