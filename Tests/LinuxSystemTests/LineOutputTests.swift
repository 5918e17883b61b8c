import Glibc
import LinuxSystem
import Testing

/// Lines of 1024 bytes at real descriptors.
struct LineOutputTests {
    private func pump(_ output: LineOutput, rounds: Int = 64, _ count: Int) -> LineProgress {
        var rest = count
        return output.pump(rounds: rounds) {
            while output.lines.hasRoom, rest > 0 {
                output.lines.queue { $0 += [UInt8](repeating: 0x2E, count: 1023) + [0x0A] }
                rest -= 1
            }
            return rest == 0
        }
    }

    @Test func aFullPipeBlocksAndGoesOn() throws {
        let pipe = try Ends()
        let output = LineOutput(fileDescriptor: pipe.writing)
        #expect(pump(output, 100) == .blocked)
        #expect(output.lines.writtenLineCount == 64)
        #expect(output.takeRead(isLast: false) == 0)
        pipe.read(10 * 1024)
        #expect(output.takeRead(isLast: false) == 10)
        pipe.read(65_536)
        #expect(pump(output, 0) == .drained)
        #expect(output.lines.writtenLineCount == 100)
        #expect(output.takeRead(isLast: false) == 54)
    }

    @Test func thePipeOfALivingReaderIsReadAtTheEnd() throws {
        let pipe = try Ends()
        let output = LineOutput(fileDescriptor: pipe.writing)
        #expect(pump(output, 3) == .drained)
        #expect(output.takeRead(isLast: false) == 0)
        #expect(output.takeRead(isLast: true) == 3)
    }

    @Test func thePipeOfADepartedReaderIsNotRead() throws {
        let pipe = try Ends()
        let output = LineOutput(fileDescriptor: pipe.writing)
        #expect(pump(output, 3) == .drained)
        pipe.read(1024)
        pipe.closeReader()
        #expect(output.takeRead(isLast: true) == 1)
    }

    @Test func aClosedSocketIsReported() throws {
        let socket = try Ends(isSocket: true)
        socket.closeReader()
        #expect(pump(LineOutput(fileDescriptor: socket.writing), 1) == .closed)
    }

    @Test func aFullDiskIsReported() throws {
        let full = unsafe open("/dev/full", O_WRONLY)
        defer { close(full) }
        try #require(full >= 0)
        #expect(pump(LineOutput(fileDescriptor: full), 1) == .failed(errorNumber: ENOSPC))
    }

    @Test func theLimitIsReported() throws {
        let pipe = try Ends()
        let output = LineOutput(fileDescriptor: pipe.writing, lineLimit: 2)
        #expect(pump(output, 1) == .drained)
        #expect(pump(output, 5) == .limitReached)
        #expect(output.lines.writtenLineCount == 2)
    }

    /// What fills the queue may still have more.
    @Test func aTurnEndsAfterItsRounds() {
        let null = unsafe open("/dev/null", O_WRONLY)
        defer { close(null) }
        let output = LineOutput(fileDescriptor: null)
        #expect(pump(output, rounds: 2, 1000) == .paused)
        #expect(output.lines.writtenLineCount == 128)
        #expect(pump(output, rounds: 2, 1) == .drained)
    }
}
