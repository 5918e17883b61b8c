import CollarARQ
import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal
import CollarLink
import Glibc

/// What drives a test session: it makes what streams and requests wait for.
protocol SessionDriver: Actor {
    /// Lets something happen, and moves the clock to it.
    /// - Parameters:
    ///   - limit: the clock goes no further; nil for no limit.
    ///   - count: `VirtualClock.changeCount` before the caller has looked whether it must wait.
    /// - Returns: false if nothing will ever happen again.
    func step(until limit: Instant?, after count: Int) async -> Bool
    /// The answer to a line that a program has sent to the control socket.
    func answer(to line: [UInt8]) -> [UInt8]
    /// The line of the end of a request; nil if it has not ended.
    func takeResult(of requestID: UInt16) -> [UInt8]?
    /// Whether a receiver runs.
    var isRunning: Bool { get }
}

/// How a ``Collar`` of a test session reaches its receiver.
struct SessionAccess: ReceiverAccess {
    let directory: TemporaryDirectory
    let clock: VirtualClock
    let driver: any SessionDriver

    func stateDirectory() -> String { directory.path }
    var animalPaths: [String] { ["\(directory.path)/animals"] }
    var placePaths: [String] { ["\(directory.path)/places"] }
    var time: HostTime { clock.time }

    func wait(for descriptors: [Int32], until deadline: Instant?) async -> WaitResult {
        while !Task.isCancelled {
            let count = clock.changeCount
            if SessionAccess.isReadable(descriptors) { return .goOn }
            if let deadline, clock.time.instant >= deadline { return .goOn }
            guard await driver.step(until: deadline, after: count) else {
                if SessionAccess.isReadable(descriptors) { return .goOn }
                guard descriptors.isEmpty, let deadline else { return .over }
                // The task only sleeps.
                clock.advance(to: deadline)
                return .goOn
            }
            await Task.yield()
        }
        return .goOn
    }

    private static func isReadable(_ descriptors: [Int32]) -> Bool {
        var queries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return unsafe poll(&queries, nfds_t(queries.count), 0) > 0
    }

    func connect() async throws(UserFacingError) -> any ControlLink {
        guard await driver.isRunning else {
            throw UserFacingError(.noReceiver, reason: "No receiver runs in this session.", remedy: "Start it: `startReceiver()`.")
        }
        return SessionLink(access: self)
    }
}

/// A connection to the receiver of a test session.
private actor SessionLink: ControlLink {
    private let access: SessionAccess
    /// The lines that were sent and not handled.
    private nonisolated let sent = Lines()
    /// The requests whose end is awaited.
    private var awaited: [UInt16] = []

    init(access: SessionAccess) { self.access = access }

    nonisolated func send(_ line: [UInt8]) {
        sent.append(line)
        access.clock.noteChange()
    }

    func nextLine(until deadline: Instant?) async -> ControlConnection.Reception<[UInt8]> {
        while !Task.isCancelled {
            let count = access.clock.changeCount
            guard await access.driver.isRunning else { return .closed }
            if let line = sent.takeFirst() {
                let answer = await access.driver.answer(to: line)
                if let result = ResultLine(bytes: answer), !result.isFinal, let id = result.requestID { awaited.append(id) }
                return .line(answer)
            }
            for id in awaited {
                guard let line = await access.driver.takeResult(of: id) else { continue }
                awaited.removeAll { $0 == id }
                return .line(line)
            }
            if let deadline, access.time.instant >= deadline { return .timeout }
            if await !access.driver.step(until: deadline, after: count) {
                // Nothing answers any more: the time passes.
                guard let deadline else { return .closed }
                access.clock.advance(to: deadline)
            }
            await Task.yield()
        }
        return .timeout
    }
}
