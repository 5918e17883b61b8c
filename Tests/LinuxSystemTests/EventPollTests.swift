import Glibc
import LinuxSystem
import Testing

extension EventLoopTests {
    /// A program that `nohup` has started ignores the signal of the terminal that goes away, and goes on.
    @Test func aProgramThatIgnoresTheEndOfItsTerminalIsNotEndedByIt() {
        let former = signal(SIGHUP, SIG_IGN)
        #expect(SignalDescriptor.ofEnd == [SIGINT, SIGTERM])
        signal(SIGHUP, SIG_DFL)
        #expect(SignalDescriptor.ofEnd == [SIGINT, SIGTERM, SIGHUP])
        signal(SIGHUP) { _ in }
        #expect(SignalDescriptor.ofEnd == [SIGINT, SIGTERM, SIGHUP])
        // SIGINT ends the program also where it was ignored at the start, as in the background of a script.
        let interrupt = signal(SIGINT, SIG_IGN)
        #expect(SignalDescriptor.ofEnd == [SIGINT, SIGTERM, SIGHUP])
        signal(SIGINT, interrupt)
        signal(SIGHUP, former)
    }

    @Test func eachOfSeveralSignalsIsRead() throws {
        let signals = try SignalDescriptor([SIGUSR1, SIGUSR2])
        for expected in [[SIGUSR1], [SIGUSR2], [SIGUSR1, SIGUSR2]] {
            for number in expected { #expect(pthread_kill(pthread_self(), number) == 0) }
            var found: [Int32] = []
            while let number = signals.next() { found.append(number) }
            #expect(found.sorted() == expected.sorted())
        }
    }

    @Test func aSignalThatIsNotNamedStaysWhereItIs() throws {
        let one = try SignalDescriptor([SIGUSR1])
        let two = try SignalDescriptor([SIGUSR2])
        #expect(pthread_kill(pthread_self(), SIGUSR2) == 0)
        #expect(one.next() == nil)
        #expect(two.next() == SIGUSR2)
    }
}

/// Sources of events, and which of them are ready.
struct EventPollTests {
    private enum Source: Equatable { case signal, input(Int), output }

    @Test func whatIsReadyIsToldUntilItIsRead() throws {
        let poll = try EventPoll<Source>(urgent: .signal)
        let pipe = try Ends(isBlocking: false)
        #expect(poll.watch(pipe.reading, as: .input(1)))
        #expect(poll.wait(timeoutMicroseconds: 0).isEmpty)
        pipe.put()
        for _ in 0..<2 {
            let events = poll.wait(timeoutMicroseconds: nil)
            #expect(events.map(\.source) == [.input(1)])
            #expect(events.allSatisfy { $0.isReadable && !$0.isWritable })
        }
        pipe.read(1)
        #expect(poll.wait(timeoutMicroseconds: -5).isEmpty)
        pipe.put()
        #expect(poll.wait(timeoutMicroseconds: 0).count == 1)
    }

    @Test func theUrgentSourceIsFirst() throws {
        let poll = try EventPoll<Source>(urgent: .signal)
        let pipes = try (0..<5).map { _ in try Ends(isBlocking: false) }
        for (number, pipe) in pipes.enumerated() {
            poll.watch(pipe.reading, as: number == 3 ? .signal : .input(number))
            pipe.put()
        }
        let events = poll.wait(timeoutMicroseconds: 0)
        #expect(events.count == 5)
        #expect(events.first?.source == .signal)
        for number in [0, 1, 2, 4] { #expect(events.contains { $0.source == .input(number) }) }
    }

    @Test func roomForBytesIsToldOnlyWhereItIsAskedFor() throws {
        let poll = try EventPoll<Source>(urgent: .signal)
        let pipe = try Ends(isBlocking: false)
        pipe.fill()
        poll.watch(pipe.writing, as: .output, forReading: false, forWriting: true)
        #expect(poll.wait(timeoutMicroseconds: 0).isEmpty)
        while pipe.read(65_536) > 0 {}
        let events = poll.wait(timeoutMicroseconds: 0)
        #expect(events.map(\.source) == [.output])
        #expect(events.allSatisfy { $0.isWritable })
        poll.watch(pipe.writing, as: .output, forReading: false, forWriting: false)
        #expect(poll.wait(timeoutMicroseconds: 0).isEmpty)
    }

    @Test func aLaterWatchReplacesTheSource() throws {
        let poll = try EventPoll<Source>(urgent: .signal)
        let pipe = try Ends(isBlocking: false)
        pipe.put()
        poll.watch(pipe.reading, as: .input(1))
        #expect(poll.watch(pipe.reading, as: .input(2)))
        #expect(poll.wait(timeoutMicroseconds: 0).map(\.source) == [.input(2)])
    }

    @Test func aDescriptorThatIsForgottenAndWatchedAgainIsTold() throws {
        let poll = try EventPoll<Source>(urgent: .signal)
        let (one, two) = (try Ends(isBlocking: false), try Ends(isBlocking: false))
        for (number, pipe) in [one, two].enumerated() {
            poll.watch(pipe.reading, as: .input(number))
            pipe.put()
        }
        poll.forget(one.reading)
        #expect(poll.wait(timeoutMicroseconds: 0).map(\.source) == [.input(1)])
        #expect(poll.watch(one.reading, as: .input(0)))
        #expect(poll.wait(timeoutMicroseconds: 0).count == 2)
    }

    @Test func aFileCannotBeWaitedFor() throws {
        let folder = try TemporaryFolder()
        let file = unsafe open(folder.write("text", to: "file"), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let poll = try EventPoll<Source>(urgent: .signal)
        #expect(!poll.watch(file, as: .input(1)))
    }

    @Test func anEndThatIsGoneIsTold() throws {
        let poll = try EventPoll<Source>(urgent: .signal)
        let pipe = try Ends(isBlocking: false)
        poll.watch(pipe.reading, as: .input(1))
        pipe.closeWriter()
        let events = poll.wait(timeoutMicroseconds: 0)
        #expect(events.map(\.source) == [.input(1)])
        #expect(events.allSatisfy { $0.isReadable })
    }
}
