import CollarErrors
import CollarLink
import CollarLinkTesting
import Testing

/// The answers to requests of the collar.
@Suite struct RegistrationTests {
    private struct Failure: Error {}

    /// Answers with the number of the bowl; bowl 0 fails.
    private func register(_ session: MockSession, as reader: String? = nil) -> Task<UserFacingError?, Never> {
        Task {
            await RequestTests.error { () async throws(UserFacingError) in
                try await session.collar.register(Weigh.self, as: reader) { request in
                    if request.bowl == 0 { throw Failure() }
                    return UInt16(request.bowl)
                }
            }
        }
    }

    /// Waits until a registration answers: the collar asks until a reply comes.
    private func settle(_ session: MockSession) async throws {
        let count = await session.requests.count
        while await session.requests.count == count {
            try await session.receiveMessage(code: 7, payload: [99], wantsReply: true)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The replies to all requests but those of ``settle(_:)``.
    private func answers(_ count: Int, of session: MockSession) async throws -> [MockRequest] {
        while true {
            let found = await session.requests.filter { $0.payload != [0, 99] }
            if found.count >= count { return found }
            session.clock.advance(bySeconds: 0.1)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test func requestsAreAnswered() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let early = try await session.receiveMessage(code: 7, payload: [9], wantsReply: true)
        session.clock.advance(bySeconds: 1)
        let task = register(session)
        try await settle(session)
        let first = try await session.receiveMessage(code: 7, payload: [2], wantsReply: true)
        try await session.receiveMessage(code: 7, payload: [2])
        try await session.receiveMessage(code: 8, payload: [2], wantsReply: true)
        let failing = try await session.receiveMessage(code: 7, payload: [0], wantsReply: true)
        let unreadable = try await session.receiveMessage(code: 7, payload: [1, 1], wantsReply: true)
        let found = try await answers(3, of: session)
        #expect(found.map(\.reply) == [first, failing, unreadable] && !found.map(\.reply).contains(early))
        #expect(found.map(\.payload) == [[0, 2], [], []] && found.allSatisfy { $0.code == 7 })
        #expect(found[0].json.contains(#""outcome":"ok""#) && found[1].json.contains("failed") && found[2].json.contains("invalid"))
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test func aCodeIsAnsweredOnce() async throws {
        let session = try MockSession()
        let task = register(session)
        try await settle(session)
        let error = await register(session).value
        #expect(error?.code == .badRequest && error?.remedy != nil)
        task.cancel()
        _ = await task.value
        // The code is free again.
        let again = register(session)
        try await settle(session)
        again.cancel()
        #expect(await again.value == nil)
    }

    @Test func underANameNothingStaysWithoutAnAnswer() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let early = try await session.receiveMessage(code: 7, payload: [1], wantsReply: true)
        session.clock.advance(bySeconds: 1)
        let first = register(session, as: "scales")
        try await settle(session)
        let answered = try await session.receiveMessage(code: 7, payload: [2], wantsReply: true)
        _ = try await answers(1, of: session)
        first.cancel()
        _ = await first.value
        let missed = try await session.receiveMessage(code: 7, payload: [3], wantsReply: true)
        let second = register(session, as: "scales")
        // The one that was answered last may be answered once more.
        var found: [Int?] = []
        while !found.contains(missed) { found = try await answers(found.count + 1, of: session).map(\.reply) }
        #expect(found.contains(answered) && !found.contains(early) && found.count <= 3)
        second.cancel()
        #expect(await second.value == nil)
    }

    @Test func aReplyWaitsForTheReceiver() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let task = register(session)
        try await settle(session)
        await session.stopReceiver()
        let asked = try await session.receiveMessage(code: 7, payload: [2], wantsReply: true)
        try await Task.sleep(for: .milliseconds(100))
        #expect(await session.requests.allSatisfy { $0.reply != asked })
        await session.startReceiver()
        #expect(try await answers(1, of: session).map(\.reply) == [asked])
        task.cancel()
        #expect(await task.value == nil)
    }
}
