import CollarErrors
import CollarLink
import CollarLinkTesting
import Testing

struct Weigh: CollarRequest, Equatable {
    typealias Response = UInt16
    static let code: UInt8 = 7
    static var maximumByteCount: Int { 1 }
    var bowl: UInt8
    var payload: [UInt8] { [bowl] }
    init(bowl: UInt8) { self.bowl = bowl }
    init(payload: [UInt8]) throws(PayloadError) { bowl = try UInt8(payload: payload) }
}

/// Echoed by the simulated collar.
struct Echo: CollarRequest {
    typealias Response = String
    static let code: UInt8 = 3
    var text: String
    var payload: [UInt8] { text.payload }
    init(text: String) { self.text = text }
    init(payload: [UInt8]) throws(PayloadError) { text = try String(payload: payload) }
}

private struct Reserved: CollarRequest {
    typealias Response = NoPayload
    static let code: UInt8 = 255
    var payload: [UInt8] { [] }
    init() {}
    init(payload: [UInt8]) {}
}

private struct Huge: CollarRequest {
    typealias Response = NoPayload
    static let code: UInt8 = 1
    static var maximumByteCount: Int { 21 }
    var payload: [UInt8] { [] }
    init() {}
    init(payload: [UInt8]) {}
}

/// Requests to a collar that does what the test says.
@Suite struct RequestTests {
    /// The error of a request.
    static func error(_ body: () async throws(UserFacingError) -> Void) async -> UserFacingError? {
        do throws(UserFacingError) {
            try await body()
            return nil
        } catch { return error }
    }

    @Test func theReplyIsTheResponse() async throws {
        let session = try MockSession()
        await session.answerRequests { request in .reply([request.payload[0], 0x10]) }
        #expect(try await session.collar.send(Weigh(bowl: 2)) == 0x0210)
        let request = try #require(await session.requests.first)
        #expect(request.verb == "message" && request.code == 7 && request.payload == [2])
        #expect(request.json.contains(#""kind":"request""#) && request.json.contains(#""mode":"queue""#))
    }

    @Test func theDeliveryIsTheModeOfTheRequest() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .reply([0, 0]) }
        _ = try await session.collar.send(Weigh(bowl: 1), delivery: .now, timeout: .seconds(10))
        _ = try await session.collar.send(Weigh(bowl: 1), delivery: .latest)
        let requests = await session.requests
        #expect(requests[0].json.contains(#""mode":"now","timeout_ms":10000"#))
        #expect(requests[1].json.contains(#""mode":"latest""#))
    }

    /// Request numbers come again after 65,535.
    @Test func anOldReplyWithTheSameNumberDoesNotCount() async throws {
        let session = try MockSession()
        try await session.receiveMessage(code: 7, payload: [9, 9], inReplyTo: 1)
        session.clock.advance(bySeconds: 1)
        await session.answerRequests { _ in .reply([0, 1]) }
        #expect(try await session.collar.send(Weigh(bowl: 1)) == 1)
    }

    @Test func findTellsHowLong() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .outcome("ok") }
        try await session.collar.find(for: .seconds(1800))
        try await session.collar.find(for: .zero)
        try await session.collar.find(for: .seconds(65_535), delivery: .latest)
        try await session.collar.reportPower()
        let requests = await session.requests
        #expect(requests.map(\.verb) == ["find", "find", "find", "report"])
        for (request, seconds) in zip(requests, [1800, 0, 65_535]) { #expect(request.json.contains("\"seconds\":\(seconds),")) }
        #expect(requests[2].json.contains(#""mode":"latest""#))
        #expect(!requests[3].json.contains("seconds"))
    }

    @Test(arguments: [Duration.seconds(-1), .seconds(65_536), .milliseconds(1500), .seconds(Int64.max)])
    func findTakesWholeSeconds(duration: Duration) async throws {
        let session = try MockSession()
        let error = await Self.error { () async throws(UserFacingError) in try await session.collar.find(for: duration) }
        #expect(error?.code == .badRequest && error?.reason.contains("65535") == true && error?.remedy != nil)
        #expect(await session.requests.isEmpty)
    }

    @Test func whatCannotBeSentIsRefusedAtOnce() async throws {
        let session = try MockSession()
        let reserved = await Self.error { () async throws(UserFacingError) in _ = try await session.collar.send(Reserved()) }
        #expect(reserved?.code == .badRequest && reserved?.reason.contains("255") == true && reserved?.remedy != nil)
        let huge = await Self.error { () async throws(UserFacingError) in _ = try await session.collar.send(Huge()) }
        #expect(huge?.reason.contains("21 bytes") == true)
        let text = String(repeating: "x", count: 21)
        let long = await Self.error { () async throws(UserFacingError) in _ = try await session.collar.send(Echo(text: text)) }
        #expect(long?.code == .badRequest && long?.remedy != nil)
        #expect(await session.requests.isEmpty)
    }

    @Test(arguments: [
        ("refused", ErrorCode.notPaired), ("unsupported", .badRequest), ("invalid", .badRequest), ("conflict", .collarFault),
        ("failed", .collarFault), ("expired", .collarNotReachable), ("replaced", .tooManyRequests),
    ])
    func anOutcomeIsAnErrorWithARemedy(name: String, code: ErrorCode) async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .outcome(name) }
        let error = await Self.error { () async throws(UserFacingError) in
            _ = try await session.collar.send(Weigh(bowl: 1), retry: .none)
        }
        #expect(error?.code == code && error?.remedy?.isEmpty == false)
    }

    @Test func aRejectionNamesAStepInSwift() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .rejected(.noRadio) }
        let error = await Self.error { () async throws(UserFacingError) in
            _ = try await session.collar.locate(delivery: .now, retry: .none)
        }
        #expect(error?.code == .noRadio && error?.remedy?.contains(".queued") == true)
    }

    /// The clock of the session moves while the retries wait.
    private func moving<Result: Sendable>(
        _ session: MockSession, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    session.clock.advance(bySeconds: 0.25)
                    try await Task.sleep(for: .microseconds(200))
                }
            }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    @Test func whatWasNotExecutedIsTriedAgain() async throws {
        let session = try MockSession()
        await session.answerRequests { request in request.number < 3 ? .outcome("busy") : .reply([0, 5]) }
        #expect(try await moving(session) { try await session.collar.send(Weigh(bowl: 1), timeout: .seconds(86_400)) } == 5)
        #expect(await session.requests.count == 3)
    }

    @Test(arguments: [ErrorCode.notPermitted, .notPaired, .badRequest])
    func whatCannotSucceedIsTriedOnce(code: ErrorCode) async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .rejected(code) }
        let error = await Self.error { () async throws(UserFacingError) in try await session.collar.locate() }
        #expect(error?.code == code)
        #expect(await session.requests.count == 1)
    }

    /// A bowl must not be filled twice.
    @Test func whatMayHaveBeenExecutedIsTriedOnce() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .outcome("expired") }
        let error = await Self.error { () async throws(UserFacingError) in try await session.collar.locate(delivery: .now) }
        #expect(error?.code == .collarNotReachable)
        #expect(await session.requests.count == 1)
    }

    @Test func aRequestThatWaitsIsSaidToWait() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let error = try await moving(session) {
            await Self.error { () async throws(UserFacingError) in try await session.collar.locate(timeout: .seconds(5)) }
        }
        #expect(error?.code == .collarNotReachable && error?.reason.contains("request 1") == true)
    }

    @Test func aCancelledRequestEnds() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let task = Task { await Self.error { () async throws(UserFacingError) in try await session.collar.locate() } }
        while await session.requests.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value?.reason.contains("cancelled") == true)
    }

    @Test func aNoticeIsDoneWhenItIsQueued() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        try await session.collar.post(Echo(text: "come"))
        let request = try #require(await session.requests.first)
        #expect(request.json.contains(#""kind":"notice""#) && request.payload == "come".payload)
    }

    @Test func withoutAReceiverThereIsARemedy() async throws {
        let session = try MockSession()
        await session.stopReceiver()
        let error = await Self.error { () async throws(UserFacingError) in try await session.collar.post(Echo(text: "")) }
        #expect(error?.code == .noReceiver && error?.remedy != nil)
    }

    @Test func valuesOutOfRangeAreRefused() async throws {
        let session = try MockSession()
        let sound = await Self.error { () async throws(UserFacingError) in try await session.collar.sound(seconds: 66) }
        let nothing = await Self.error { () async throws(UserFacingError) in try await session.collar.set([:]) }
        let high = await Self.error { () async throws(UserFacingError) in try await session.collar.set([.positionDigits: 9]) }
        for error in [sound, nothing, high] { #expect(error?.code == .badRequest && error?.remedy != nil) }
        #expect(await session.requests.isEmpty)
    }

    @Test func noticesOfTheCollarAreRead() async throws {
        let session = try MockSession()
        await session.finish()
        try await session.receiveMessage(code: 7, payload: [4])
        try await session.receiveMessage(code: 7, payload: [4, 4])
        try await session.receiveMessage(code: 7, payload: [5], wantsReply: true)
        try await session.receiveMessage(code: 8, payload: [6])
        var found: [Weigh] = []
        for try await notice in session.collar.notices(of: Weigh.self) { found.append(notice) }
        #expect(found == [Weigh(bowl: 4)])
    }
}
