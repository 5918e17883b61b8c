import Glibc
import Testing

@testable import LinuxSystem

/// Bytes that were written and not read, at each kind of descriptor.
struct NonblockingOutputTests {
    private func bytes(_ count: Int) -> ArraySlice<UInt8> { [UInt8](repeating: 7, count: count)[...] }

    @Test func aWriteIsAtMostOneAtomicPart() throws {
        for isSocket in [false, true] {
            let ends = try Ends(isSocket: isSocket)
            let output = NonblockingOutput(ends.writing)
            #expect(output.write(bytes(10)) == 10)
            #expect(output.write(bytes(4096)) == 4096)
            #expect(output.write(bytes(4097)) == 4096)
            #expect(ends.read(100_000) == 10 + 2 * 4096)
        }
    }

    @Test func aFullPipeTakesNothingAndHasRoomAgainLater() throws {
        let ends = try Ends()
        let output = NonblockingOutput(ends.writing)
        var total = 0
        while case let count = output.write(bytes(4096)), count > 0 { total += count }
        #expect(errno == EAGAIN)
        #expect(output.unreadByteCount == total)
        #expect(ends.read(5000) == 5000)
        #expect(output.unreadByteCount == total - 5000)
        #expect(output.write(bytes(4096)) > 0)
        let flags = fcntl(ends.writing, F_GETFL)
        #expect(flags & O_NONBLOCK == 0, "others have the descriptor open, too")
    }

    @Test func whatTheLastReaderOfAPipeLeavesIsLost() throws {
        let ends = try Ends()
        let output = NonblockingOutput(ends.writing)
        #expect(output.write(bytes(100)) == 100)
        #expect(ends.read(30) == 30)
        ends.closeReader()
        #expect(output.lostByteCount == 70)
        #expect(output.lostByteCount == 70)
    }

    @Test func whatALivingReaderHasNotReadIsNotLost() throws {
        let ends = try Ends()
        let output = NonblockingOutput(ends.writing)
        #expect(output.write(bytes(100)) == 100)
        #expect(output.lostByteCount == 0)
        #expect(output.unreadByteCount == 100)
        #expect(ends.read(100) == 100)
        ends.closeReader()
        #expect(output.lostByteCount == 0)
    }

    @Test func aSocketTellsOnlyWhetherAllWasRead() throws {
        let ends = try Ends(isSocket: true)
        let output = NonblockingOutput(ends.writing)
        #expect(output.unreadByteCount == 0)
        #expect(output.write(bytes(100)) == 100)
        #expect(output.unreadByteCount == .max)
        #expect(ends.read(60) == 60)
        #expect(output.unreadByteCount == .max)
        #expect(ends.read(60) == 40)
        #expect(output.unreadByteCount == 0)
    }

    @Test func aFileHasEverythingAtOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.write("", to: "file")
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let output = NonblockingOutput(descriptor)
        #expect(output.fileDescriptor == descriptor)
        for _ in 0..<3 { #expect(output.write(bytes(4096)) == 4096) }
        #expect((output.unreadByteCount, output.undeliveredByteCount, output.lostByteCount) == (0, 0, 0))
        output.synchronize()
        #expect(SystemFiles.content(of: path)?.count == 3 * 4096)
    }

    @Test func aPipeWithoutAReaderFails() throws {
        let ends = try Ends()
        let output = NonblockingOutput(ends.writing)
        ends.closeReader()
        // As in the program, so that the call fails instead.
        signal(SIGPIPE, SIG_IGN)
        #expect(output.write(bytes(1)) == -1)
        #expect(errno == EPIPE)
    }
}
