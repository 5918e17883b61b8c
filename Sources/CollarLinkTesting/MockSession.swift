import CollarErrors
import CollarLink
import FoundationEssentials

/// A collar and a receiver that do what a test tells them.
///
///     let session = try MockSession()
///     try await session.receive(.sample(sequence: 1))
///     for try await fix in session.collar.fixes(.everything) { … }
///
/// What the test gives is stored in a real journal, which the streams of its ``collar`` read as they do outside. Time passes only by
/// ``clock``. After ``finish()`` the streams end when they have handed out everything.
public final class MockSession: Sendable {
    /// The collar of the session.
    public let collar: Collar
    /// The clock of the session. Streams and requests that wait for a time need it to be moved.
    public let clock: VirtualClock
    private let directory: TemporaryDirectory
    private let driver: MockDriver

    /// Sets up a session.
    /// - Parameter start: when it begins.
    public init(start: Date = LocationFix.sample().timestamp) throws(UserFacingError) {
        directory = try TemporaryDirectory()
        clock = VirtualClock(start: start)
        driver = try MockDriver(directory: directory.path, clock: clock)
        collar = Collar(nil, SessionAccess(directory: directory, clock: clock, driver: driver))
    }

    /// A collar by its name or id, as `Collar(_:)` takes it; the animals file of the session says which animal wears which collar.
    public func collar(named name: String) -> Collar { Collar(name, SessionAccess(directory: directory, clock: clock, driver: driver)) }

    /// The state directory of the session, for tests that write an animals file or a places file into it (`animals`, `places`).
    public var stateDirectory: String { directory.path }

    /// The id of the collar, 16 hexadecimal digits.
    public var collarID: String { MockDriver.deviceID.description }

    /// A fix arrives. Its `sequence` is its place in the collar's log; a fix with a sequence that has arrived is a duplicate.
    /// - Returns: the fix as programs get it: with its identifier, and rounded as on the air.
    /// - Throws: if the fix cannot be sent, or is a duplicate.
    @discardableResult public func receive(_ fix: LocationFix) async throws(UserFacingError) -> LocationFix { try await driver.receive(fix) }

    /// The collar says that it no longer has some fixes.
    public func lose(_ sequences: ClosedRange<Int>) async throws(UserFacingError) { try await driver.lose(sequences) }

    /// A message of the collar's application arrives, with the next free sequence.
    /// - Parameters:
    ///   - code: the meaning of the bytes, on which the application and the program agree, 0 … 255.
    ///   - payload: at most 20 bytes.
    ///   - wantsReply: whether it is a request.
    ///   - request: the number of the request that it answers; nil if it answers none.
    /// - Returns: its sequence.
    @discardableResult public func receiveMessage(
        code: UInt8, payload: [UInt8], wantsReply: Bool = false, inReplyTo request: Int? = nil
    ) async throws(UserFacingError) -> Int {
        try await driver.receiveMessage(code: code, payload: payload, wantsReply: wantsReply, request: request)
    }

    /// Something happens at the radio or the collar.
    public func report(_ event: CollarEvent.Kind) async throws(UserFacingError) { try await driver.report(event) }

    /// How the receiver answers requests, from now on. At first each is accepted and done at once.
    public func answerRequests(_ answer: @escaping @Sendable (MockRequest) -> MockRequest.Answer) async { await driver.setAnswer(answer) }

    /// The requests that were sent, oldest first.
    public var requests: [MockRequest] { get async { await driver.requests } }

    /// Stops the receiver: requests fail. What is stored stays.
    public func stopReceiver() async { await driver.setRunning(false) }

    /// Starts the receiver again.
    public func startReceiver() async { await driver.setRunning(true) }

    /// Whether a radio is open, and the collar is reachable; nil before it was heard. The connection follows from both.
    public func setReachable(_ isReachable: Bool?, isRadioOpen: Bool = true) async {
        await driver.setReachable(isReachable, isRadioOpen: isRadioOpen)
    }

    /// Nothing more will come: streams end once they have handed out everything.
    public func finish() async { await driver.finish() }
}

/// A request that a program has sent to a ``MockSession``.
public struct MockRequest: Equatable, Sendable {
    /// How the receiver answers a request.
    public enum Answer: Equatable, Sendable {
        /// The collar has done it.
        case done
        /// It waits; the collar is not heard.
        case queued
        /// Another outcome, as result lines name it: `busy`, `refused`, `expired` …
        case outcome(String)
        /// The receiver does not accept it.
        case rejected(ErrorCode)
        /// The application of the collar has taken the message, and replies with these bytes.
        case reply([UInt8])
    }

    /// The verb: `locate`, `message` …
    public let verb: String
    /// The number of the request.
    public let number: Int
    /// The code of a message; nil for any other request.
    public let code: UInt8?
    /// The bytes of a message.
    public let payload: [UInt8]
    /// The sequence of the collar's message that it answers; nil if it answers none.
    public let reply: Int?
    /// The line of JSON with which it came.
    public let json: String
}
