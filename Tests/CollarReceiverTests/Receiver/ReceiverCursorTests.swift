import CollarARQ
import CollarFormats
import CollarHost
import CollarJournal
import Glibc
import LinuxSystem
import Testing

@testable import CollarReceiver

/// Which lines a run writes again after an earlier one: those that the consumer has not read, and no others.
@Suite struct ReceiverCursorTests {
    /// A day with fixes, after which the radio is unplugged.
    private func day(_ sequences: Range<UInt32>, of collar: RecordedCollar = RecordedCollar()) throws -> RecordedDay {
        var day = RecordedDay()
        try day.receiveFixes(sequences, of: collar)
        day.wait(seconds: 1)
        day.note(.unplugged)
        day.wait(seconds: 1)
        day.note(.due)
        return day
    }

    private func idle() -> RecordedDay {
        var day = RecordedDay()
        day.pass(seconds: 3)
        return day
    }

    /// Runs a receiver that writes to a pipe.
    /// - Parameter read: reads from the pipe once the radio is unplugged, and may close it.
    /// - Returns: the descriptor of the reading end, which the caller closes.
    private func runIntoPipe(_ bench: ReceiverBench, _ day: RecordedDay, read: @escaping (Int32) -> Void) throws -> Int32 {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(writing) }
        bench.onNotice = { _, notice in if case .port(_, .unplugged) = notice { read(reading) } }
        try bench.write(day.bytes, to: "capture")
        #expect(try bench.run(writingTo: writing).error == nil)
        return reading
    }

    @Test func nothingIsWrittenTwiceAfterACleanEnd() throws {
        let bench = try ReceiverBench()
        for start in [0, 1, 5] as [UInt32] {
            #expect(try bench.play(try day(0..<(start + 3))).sequences() == (start == 0 ? [0, 1, 2] : start == 1 ? [3] : [4, 5, 6, 7]))
            #expect(try bench.play(idle()).sequences() == [])
        }
    }

    /// The last fix came in a moment before the end, or long before it.
    @Test func aFixThatCameJustBeforeTheEndIsNotRepeated() throws {
        let bench = try ReceiverBench()
        let collar = RecordedCollar()
        var day = RecordedDay()
        try day.receiveFixes(0..<1, of: collar)
        #expect(try bench.play(day).sequences() == [0])
        #expect(try bench.play(idle()).sequences() == [])
        day.pass(seconds: 300)
        try day.receiveFixes(1..<2, of: collar)
        day.pass(seconds: 50)
        #expect(try bench.play(day).sequences() == [1])
        #expect(try bench.play(idle()).sequences() == [])
    }

    @Test func eachCollarHasAPlaceOfItsOwn() throws {
        let bench = try ReceiverBench()
        let (first, second) = (RecordedCollar(0xC0, logID: 77), RecordedCollar(0xC1, logID: 78, address: 10))
        _ = try bench.play(try day(0..<3, of: first))
        #expect(try bench.play(try day(0..<2, of: second)).sequences() == [0, 1])
        #expect(try bench.play(try day(0..<4, of: first)).sequences() == [3])
        #expect(try bench.play(try day(0..<3, of: second)).sequences() == [2])
        #expect(try bench.play(idle()).sequences() == [])
    }

    @Test func linesThatAPipesReaderHasReadAreNotRepeated() throws {
        let bench = try ReceiverBench()
        var text: [UInt8]?
        let reading = try runIntoPipe(bench, try day(0..<5)) { text = SystemFiles.read(from: $0) }
        close(reading)
        #expect(text?.count { $0 == UInt8(ascii: "\n") } == 5)
        #expect(try bench.play(idle()).sequences() == [])
    }

    /// The reader goes away: lines that it has not read to their end are written again.
    @Test(arguments: [0, 1, 2, 5])
    func linesThatAPipesReaderHasNotReadAreRepeated(count: Int) throws {
        let bench = try ReceiverBench()
        // The length of a line, by a run of another state.
        let other = try ReceiverBench()
        let lengths = try other.play(try day(0..<5)).text.split(separator: "\n").map { $0.utf8.count + 1 }
        try #require(lengths.count == 5)
        for isInALine in [false, true] where count < 5 || !isInALine {
            let byteCount = lengths.prefix(count).reduce(isInALine ? 7 : 0, +)
            let name = isInALine ? "in a line" : "at the end of a line"
            let bench = isInALine ? try ReceiverBench() : bench
            _ = try runIntoPipe(bench, try day(0..<5)) { reading in
                if byteCount > 0 { _ = SystemFiles.read(from: reading, byteLimit: byteCount) }
                close(reading)
            }
            #expect(try bench.play(idle()).sequences() == Array(count..<5), "\(name)")
            #expect(try bench.play(idle()).sequences() == [], "\(name)")
        }
    }

    /// Bytes in a pipe that still has a reader at the end will be read.
    @Test func linesInAPipeWithAReaderAreNotRepeated() throws {
        let bench = try ReceiverBench()
        let reading = try runIntoPipe(bench, try day(0..<5)) { _ in }
        defer { close(reading) }
        #expect(SystemFiles.read(from: reading)?.count { $0 == UInt8(ascii: "\n") } == 5)
        #expect(try bench.play(idle()).sequences() == [])
    }

    /// What one selection leaves out stays for another run.
    @Test func fixesThatAreNotWantedStay() throws {
        let bench = try ReceiverBench([.link])
        #expect(try bench.play(try day(0..<3)).sequences() == [])
        bench.configuration.write([.fix])
        #expect(try bench.play(idle()).sequences() == [0, 1, 2])
        #expect(try bench.play(idle()).sequences() == [])
    }

    /// Many more lines than are confirmed at once.
    @Test func manyLinesAreConfirmed() throws {
        let bench = try ReceiverBench()
        let collar = RecordedCollar()
        var day = RecordedDay()
        day.receive(try collar.identity(next: 1000))
        for sequence in 0..<1000 as Range<UInt32> { day.receive(try collar.fix(sequence), isSameRound: sequence % 100 != 0) }
        #expect(try bench.play(day).sequences() == Array(0..<1000))
        #expect(try bench.play(idle()).sequences() == [])
    }
}
