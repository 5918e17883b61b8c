import Glibc
import Testing

@testable import LinuxSystem

/// Programs that are started, their ends, and the signals to them.
struct ChildProcessTests {
    private func end(_ command: String..., input: [UInt8] = []) throws -> CommandEnd? {
        try ChildProcess(command, input: input).end(waits: true)
    }

    private func shell(_ script: String, input: [UInt8] = []) throws -> CommandEnd? { try end("sh", "-c", script, input: input) }

    @Test(arguments: [0, 1, 3, 126, 127, 128, 255] as [Int32]) func theExitCodeIsTheOneOfTheProgram(code: Int32) throws {
        #expect(try shell("exit \(code)") == .exitCode(code))
        #expect(ChildProcess.exitCode(of: ["sh", "-c", "exit \(code)"]) == code)
    }

    @Test(arguments: [SIGTERM, SIGKILL, SIGINT, SIGHUP, SIGPIPE]) func aSignalThatEndsTheProgramIsNamed(number: Int32) throws {
        #expect(try shell("kill -\(number) $$") == .signal(number))
        #expect(ChildProcess.exitCode(of: ["sh", "-c", "kill -\(number) $$"]) == nil)
    }

    /// The event loop blocks the signals that it reads; a program that it starts must not inherit that.
    @Test func noSignalIsBlockedInAProgram() throws {
        var (blocked, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGTERM)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &former)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
        #expect(try shell("kill -TERM $$") == .signal(SIGTERM))
    }

    @Test func aProgramThatIsNotThereCannotBeStarted() {
        #expect(throws: SystemError(operation: "posix_spawn", errno: ENOENT)) {
            try ChildProcess(["collar-link-no-such-program"], input: [])
        }
        #expect(ChildProcess.exitCode(of: ["collar-link-no-such-program"]) == nil)
    }

    @Test(arguments: [0, 1, 5, 300_000]) func aProgramReadsItsInputToTheEnd(byteCount: Int) throws {
        let input = [UInt8](repeating: 0x41, count: byteCount)
        #expect(try shell("test $(wc -c) = \(byteCount)", input: input) == .exitCode(0))
    }

    @Test func theInputIsTheOneOfTheProgram() throws {
        #expect(try shell("read a; read b; test \"$a-$b\" = 'one-two three'", input: Array("one\ntwo three\n".utf8)) == .exitCode(0))
    }

    @Test func argumentsAreHandedOnAsTheyAre() throws {
        #expect(try end("sh", "-c", "test \"$1|$2|$#\" = 'a b|*|2'", "name", "a b", "*") == .exitCode(0))
    }

    @Test func bothOutputsGoToTheErrorOutput() throws {
        let place = "/proc/self/fd/2"
        var ours = stat()
        try #require(unsafe fstat(STDERR_FILENO, &ours) == 0)
        let (device, inode) = (ours.st_dev, ours.st_ino)
        #expect(try shell("test /proc/self/fd/1 -ef \(place) && test $(stat -L -c %d:%i \(place)) = \(device):\(inode)") == .exitCode(0))
    }

    @Test func theEndIsNotKnownWhileAProgramRuns() throws {
        let process = try ChildProcess(["sleep", "100"], input: [])
        #expect(process.end(waits: false) == nil)
        process.send(signal: SIGTERM)
        #expect(process.end(waits: true) == .signal(SIGTERM))
    }

    /// A program that starts another one. The other one prints its process id, and holds its end of a pipe while it runs.
    private final class Family {
        let process: ChildProcess
        private(set) var childID: pid_t = 0
        private let reading: Int32
        private let folder: TemporaryFolder

        init(hasGroup: Bool) throws {
            folder = try TemporaryFolder()
            let place = "\(folder.path)/pipe"
            try #require(unsafe mkfifo(place, 0o600) == 0)
            reading = unsafe open(place, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            try #require(reading >= 0)
            process = try ChildProcess(["sh", "-c", "sh -c 'echo $$; exec sleep 20' > \(place); true"], input: [], hasGroup: hasGroup)
            var text = ""
            while !text.hasSuffix("\n"), isReadable {
                text += String(decoding: SystemFiles.read(from: reading, byteLimit: 100) ?? [], as: UTF8.self)
            }
            childID = pid_t(text.dropLast()) ?? 0
            try #require(childID > 0)
        }

        deinit {
            kill(childID, SIGKILL)
            close(reading)
        }

        /// Whether bytes come in, or the other end goes away, before a test has waited too long.
        private var isReadable: Bool { wait(milliseconds: 5000) }

        private func wait(milliseconds: Int32) -> Bool {
            var state = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&state, 1, milliseconds) > 0
        }

        /// Whether the program that the first one has started ends, too.
        func childEnds() -> Bool { isReadable && SystemFiles.read(from: reading, byteLimit: 1) == [] }
        var childRuns: Bool { !wait(milliseconds: 0) }
    }

    @Test(arguments: [SIGTERM, SIGKILL]) func aSignalToAGroupEndsAlsoWhatTheProgramHasStarted(number: Int32) throws {
        let family = try Family(hasGroup: true)
        #expect(family.process.end(waits: false) == nil)
        family.process.send(signal: number)
        #expect(family.process.end(waits: true) == .signal(number))
        #expect(family.childEnds())
    }

    @Test func aSignalToAProgramWithoutAGroupEndsItAlone() throws {
        let family = try Family(hasGroup: false)
        family.process.send(signal: SIGKILL)
        #expect(family.process.end(waits: true) == .signal(SIGKILL))
        #expect(family.childRuns)
    }

    /// The group of the tests themselves gets nothing, and a program with a group is not in it.
    @Test func aProgramHasAGroupOfItsOwnOnlyIfItIsWanted() throws {
        for hasGroup in [true, false] {
            let script = "read a b c d group rest < /proc/self/stat; test $group \(hasGroup ? "!=" : "=") \(getpgrp())"
            #expect(try ChildProcess(["sh", "-c", script], input: [], hasGroup: hasGroup).end(waits: true) == .exitCode(0))
        }
    }
}
