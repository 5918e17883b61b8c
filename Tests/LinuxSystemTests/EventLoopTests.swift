import Glibc
import LinuxSystem
import Testing

/// Signals concern the whole process, so the tests run one after another.
@Suite(.serialized)
struct EventLoopTests {
    @Test func aBlockedSignalIsReadOnce() throws {
        let signals = try SignalDescriptor([SIGUSR2])
        #expect(signals.next() == nil)
        // The signal is sent to this thread: the descriptor delivers the signals that are pending for the thread that reads it.
        #expect(pthread_kill(pthread_self(), SIGUSR2) == 0)
        #expect(signals.next() == SIGUSR2)
        #expect(signals.next() == nil)
    }
}

struct ClockTests {
    @Test func theMonotonicClockDoesNotGoBack() {
        var last = MonotonicClock.microseconds
        for _ in 0..<1000 {
            let now = MonotonicClock.microseconds
            #expect(now >= last)
            last = now
        }
    }

    @Test func theWallClockAgreesWithTheSystem() {
        let seconds = Int64(time(nil))
        #expect(abs(WallClock.unixMilliseconds / 1000 - seconds) <= 1)
    }
}
