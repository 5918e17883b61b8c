import CollarPorts
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// The process that is named when several have a file open. No other process opens a file in a folder of the test.
@Suite struct OtherHoldersTests {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.file("line")
    }

    /// Starts a process that has files open until it is killed.
    private func holder(_ openings: String) throws -> ProcessHolder {
        let script = """
            cd '\(directory.path)'; exec \(openings)
            sleep 60 & echo $! > pid; until grep -q sleep /proc/$!/comm; do :; done
            """
        try #require(try run(["sh", "-c", script]) == 0)
        let process = try #require(SystemFiles.firstLine(of: "\(directory.path)/pid").flatMap { Int32($0) })
        return ProcessHolder(processID: process, name: "sleep")
    }

    @Test func aFileThatNobodyHasOpenHasNoHolder() {
        #expect(eventually { ProcessHolder.holder(of: file) == nil })
        #expect(ProcessHolder.holder(of: "\(directory.path)/nothing") == nil)
    }

    @Test func onlyAFurtherDescriptorOfThisProcessCounts() throws {
        let first = try openedPlainly(file)
        defer { closePlainly(first) }
        #expect(eventually { ProcessHolder.holder(of: file)?.processID == getpid() })
        #expect(eventually { ProcessHolder.holder(of: file, except: first) == nil })
        let second = try openedPlainly(file)
        #expect(eventually { ProcessHolder.holder(of: file, except: first)?.processID == getpid() })
        closePlainly(second)
    }

    @Test func anotherProcessGoesBeforeThisOne() throws {
        let own = try openedPlainly(file)
        defer { closePlainly(own) }
        let other = try holder("9<>line")
        defer { kill(other.processID, SIGKILL) }
        #expect(eventually { ProcessHolder.holder(of: file) == other })
        #expect(eventually { ProcessHolder.holder(of: file, except: own) == other })
    }

    /// The line has another name now, and another file has its former name.
    @Test func theHolderOfTheFormerFileIsNotTheHolder() throws {
        let other = try holder("9<>line")
        defer { kill(other.processID, SIGKILL) }
        try directory.move("line", to: "former")
        _ = try directory.file("line")
        #expect(eventually { ProcessHolder.holder(of: file) == nil })
        #expect(eventually { ProcessHolder.holder(of: "\(directory.path)/former") == other })
    }

    /// Only at a pseudo-terminal can the process be the radio: a terminal program has pseudo-terminals of its own.
    @Test func aProcessWithAPseudoTerminalOfItsOwnIsAHolderOfADevice() throws {
        let other = try holder("8<>/dev/ptmx 9<>line")
        defer { kill(other.processID, SIGKILL) }
        #expect(eventually { ProcessHolder.holder(of: file) == other })
    }
}

extension ProcessHolderTests {
    /// A process that has the other end of a pseudo-terminal is the radio, and no rival.
    @Test func aProcessThatHasARadiosEndIsNoRival() throws {
        let radio = try PseudoTerminal()
        let directory = try TemporaryDirectory()
        let script = """
            exec 8<>/dev/ptmx 9<>\(radio.path)
            sleep 60 & echo $! > \(directory.path)/pid; until grep -q sleep /proc/$!/comm; do :; done
            """
        try #require(try run(["sh", "-c", script]) == 0)
        let process = try #require(SystemFiles.firstLine(of: "\(directory.path)/pid").flatMap { Int32($0) })
        defer { kill(process, SIGKILL) }
        #expect(eventually { ProcessHolder.holder(of: radio.path) == nil })
        let port = try SerialPort(opening: radio.path)
        #expect(eventually { port.otherReader == nil })
        port.close()
    }

    @Test func anOpeningIsNewsAfterAReadOfThisProcess() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        let watcher = try OpeningWatcher(of: port)
        let other = try openedPlainly(radio.path)
        #expect(watcher.drain(isAfterOwnRead: true) && watcher.isOpen)
        closePlainly(other)
        #expect(eventually { !watcher.drain(isAfterOwnRead: true) && !watcher.isOpen })
        port.close()
    }

    @Test func anEarlierReaderStaysAfterALaterProgramHasGone() throws {
        let radio = try PseudoTerminal()
        let earlier = try openedPlainly(radio.path)
        let port = try SerialPort(opening: radio.path)
        let watcher = try OpeningWatcher(of: port)
        #expect(radio.write([7].span) == .written(1))
        try #require(try received(1) { readPlainly(earlier, &$0) } == [7])
        #expect(watcher.drain() && watcher.isOpen)
        let later = try openedPlainly(radio.path)
        #expect(watcher.drain())
        closePlainly(later)
        #expect(eventually { !watcher.drain() && watcher.isOpen })
        closePlainly(earlier)
        #expect(eventually { !watcher.drain() && !watcher.isOpen })
        port.close()
    }
}
