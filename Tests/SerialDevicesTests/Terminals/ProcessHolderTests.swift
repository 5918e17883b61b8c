import CollarPorts
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// The process that is named as the holder of a busy port. ``PrivateTerminalTests`` runs these tests.
@Suite(.enabled(if: PrivateTerminals.areHere, "needs terminals of its own, see PrivateTerminalTests"))
struct ProcessHolderTests {
    @Test func aSecondOpenNamesTheHolder() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        #expect(eventually { holderNamed(onOpening: radio.path)?.processID == getpid() })
        let holder = try #require(holderNamed(onOpening: radio.path))
        #expect(!holder.name.isEmpty && holder.name != "unknown")
        // The failed attempt must not release the lock of the first open.
        #expect(throws: SerialPortError.self) { try SerialPort(opening: radio.path) }
        port.close()
        #expect(throws: Never.self) { try SerialPort(opening: radio.path) }
    }

    @Test func theHolderIsFoundBehindASymbolicLink() throws {
        let radio = try PseudoTerminal()
        let directory = try TemporaryDirectory()
        try directory.link("collar", to: radio.path)
        let port = try SerialPort(opening: radio.path)
        let path = "\(directory.path)/collar"
        #expect(eventually { holderNamed(onOpening: path)?.processID == getpid() })
        // If TIOCEXCL refuses the open there is no descriptor, so the holder is found by the path alone.
        #expect(eventually { ProcessHolder.holder(of: path)?.processID == getpid() })
        port.close()
    }

    @Test func anotherProcessIsNamedAsHolder() throws {
        let radio = try PseudoTerminal()
        let sleeper = try lockingProcess(radio.path)
        defer { kill(sleeper, SIGKILL) }
        let holder = ProcessHolder(processID: sleeper, name: "sleep")
        #expect(throws: SerialPortError.busy(path: radio.path, holder: holder)) { try SerialPort(opening: radio.path) }
    }

    @Test func anotherReaderIsNamed() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        #expect(eventually { port.otherReader == nil }, "this process does not count")
        let directory = try TemporaryDirectory()
        let script = """
            cat \(radio.path) > /dev/null & echo $! > \(directory.path)/pid
            until ls -l /proc/$!/fd | grep -q \(radio.path); do :; done
            """
        try #require(try run(["sh", "-c", script]) == 0)
        let reader = try #require(SystemFiles.firstLine(of: "\(directory.path)/pid").flatMap { Int32($0) })
        defer { kill(reader, SIGKILL) }
        #expect(eventually { port.otherReader == ProcessHolder(processID: reader, name: "cat") })
    }

    @Test func ofTwoProgramsThatOpenedTheLineOneMayStay() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        let watcher = try OpeningWatcher(of: port)
        let first = try openedPlainly(radio.path)
        #expect(watcher.drain() && watcher.isOpen)
        let second = try openedPlainly(radio.path)
        #expect(watcher.drain() && watcher.isOpen)
        closePlainly(first)
        #expect(eventually { !watcher.drain() && watcher.isOpen })
        closePlainly(second)
        #expect(eventually { !watcher.drain() && !watcher.isOpen })
        port.close()
    }

    /// A program that had the line open before the watch began counts when it reads, once. The reads of this process do not count.
    @Test func aReaderThatWasThereBeforeIsNoticed() throws {
        let radio = try PseudoTerminal()
        let earlier = try openedPlainly(radio.path)
        let port = try SerialPort(opening: radio.path)
        let watcher = try OpeningWatcher(of: port)
        func send(_ read: (inout [UInt8]) -> ReadResult) throws {
            #expect(radio.write([7].span) == .written(1))
            try #require(try received(1, read: read) == [7])
        }
        #expect(!watcher.drain() && !watcher.isOpen)
        try send { port.read(into: &$0) }
        #expect(!watcher.drain(isAfterOwnRead: true) && !watcher.isOpen)
        try send { readPlainly(earlier, &$0) }
        #expect(watcher.drain() && watcher.isOpen)
        try send { readPlainly(earlier, &$0) }
        #expect(!watcher.drain() && watcher.isOpen, "it is noticed once")
        closePlainly(earlier)
        #expect(eventually { !watcher.drain() && !watcher.isOpen })
        let later = try openedPlainly(radio.path)
        #expect(watcher.drain() && watcher.isOpen)
        try send { readPlainly(later, &$0) }
        #expect(!watcher.drain(), "its opening was noticed")
        closePlainly(later)
        #expect(eventually { !watcher.drain() && !watcher.isOpen })
        port.close()
    }

    /// Starts a process that keeps a port open and locked until it is killed.
    private func lockingProcess(_ path: String) throws -> Int32 {
        let directory = try TemporaryDirectory()
        let script = """
            exec 9<>\(path); flock -n 9 || exit 1
            sleep 60 & echo $! > \(directory.path)/pid
            until grep -q sleep /proc/$!/comm; do :; done
            """
        try #require(try run(["sh", "-c", script]) == 0)
        return try #require(SystemFiles.firstLine(of: "\(directory.path)/pid").flatMap { Int32($0) })
    }
}
