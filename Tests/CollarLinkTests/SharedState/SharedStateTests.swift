import CollarErrors
import CollarLink
import CollarLinkTesting
import CollarWire
import FoundationEssentials
import Synchronization
import Testing

private enum LightMode: UInt8, MessagePayload { case off, on, blinking }

/// A state that a program shares with a collar.
@Suite struct SharedStateTests {
    private static let otherReceiver: UInt32 = 0xA_BCDE

    /// The bytes of a message.
    private static func bytes(_ state: [UInt8], number: UInt64, origin: UInt32) -> [UInt8] {
        let version = number << 20 | UInt64(origin)
        return version.payload + state
    }

    private static func number(of payload: [UInt8]) throws -> UInt64 { try UInt64(payload: Array(payload.prefix(8))) >> 20 }

    private func light(_ session: MockSession, _ resolution: StateResolution<LightMode> = .latest) -> SharedState<LightMode> {
        session.collar.sharedState(LightMode.self, resolving: resolution)
    }

    /// The collar accepts every change.
    private func accept(_ session: MockSession) async { await session.answerRequests { .reply($0.payload) } }

    @Test(arguments: 1...10) func aChangeReachesTheCollar(seed: Int) async throws {
        let session = try FlakySession(loss: 0.3, seed: UInt64(seed))
        let light = session.collar.sharedState(LightMode.self, resolving: .latest)
        for mode in [LightMode.on, .blinking, .off, .blinking] {
            #expect(try await light.set(mode, timeout: .seconds(600)) == mode)
            #expect(try await light.value == mode)
        }
        try await session.restartReceiver()
        #expect(try await light.value == .blinking)
        #expect(try await light.refresh(timeout: .seconds(600)) == .blinking)
    }

    @Test func aChangeIsARequestOfTheReservedCode() async throws {
        let session = try MockSession()
        await accept(session)
        #expect(try await light(session).value == nil)
        #expect(try await light(session).set(.on) == .on)
        let request = try #require(await session.requests.first)
        #expect(request.code == 255 && request.payload.count == 9 && request.payload.last == 1)
        #expect(request.json.contains(#""kind":"request""#) && request.json.contains(#""mode":"latest""#))
        #expect(try Self.number(of: request.payload) == UInt64(session.clock.now.timeIntervalSince1970 * 1000))
        #expect(try await light(session).value == .on)
    }

    @Test func aChangeThatWaitsCountsHere() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let task = Task { await RequestTests.error { () async throws(UserFacingError) in try await light(session).set(.on) } }
        while await session.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try await light(session).value == .on)
        task.cancel()
        #expect(await task.value?.code == .collarNotReachable)
        #expect(try await light(session).value == .on)
    }

    @Test func aChangeThatIsNotSentDoesNotCount() async throws {
        let session = try MockSession()
        await accept(session)
        try await light(session).set(.on)
        await session.answerRequests { _ in .rejected(.noContact) }
        let error = await RequestTests.error { () async throws(UserFacingError) in
            try await light(session).set(.off, delivery: .now, retry: .none)
        }
        #expect(error?.code == .noContact)
        #expect(try await light(session).value == .on)
    }

    @Test func aStateHasAtMostTwelveBytes() async throws {
        let session = try MockSession()
        let text = session.collar.sharedState(String.self, resolving: .host)
        await accept(session)
        #expect(try await text.set("twelve bytes") == "twelve bytes")
        let error = await RequestTests.error { () async throws(UserFacingError) in try await text.set("thirteen byte") }
        #expect(error?.code == .badRequest && error?.reason.contains("12") == true)
        #expect(await session.requests.count == 1)
    }

    @Test func aCollarWithoutASharedStateIsAnError() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .reply([1, 2]) }
        let error = await RequestTests.error { () async throws(UserFacingError) in try await light(session).set(.on) }
        #expect(error?.code == .badRequest && error?.remedy != nil)
        #expect(try await light(session).value == nil)
    }

    /// Another receiver has changed the state a year ahead; the second attempt of this host is accepted.
    private func conflict(_ resolution: StateResolution<LightMode>) async throws -> (result: LightMode, requests: [MockRequest]) {
        let session = try MockSession()
        await session.answerRequests { request in
            guard request.number == 1, let number = try? Self.number(of: request.payload) else { return .reply(request.payload) }
            return .reply(Self.bytes([2], number: number + 1_000_000, origin: Self.otherReceiver))
        }
        let result = try await light(session, resolution).set(.on)
        #expect(try await light(session, resolution).value == result)
        return (result, await session.requests)
    }

    @Test func theResolutionDecidesAConflict() async throws {
        for resolution in [StateResolution<LightMode>.latest, .collar, .highestSequence] {
            let (result, requests) = try await conflict(resolution)
            #expect(result == .blinking && requests.count == 1)
        }
        for resolution in [StateResolution<LightMode>.earliest, .host, .merge { local, _ in local }] {
            let (result, requests) = try await conflict(resolution)
            #expect(result == .on && requests.count == 2)
            #expect(try Self.number(of: requests[1].payload) == Self.number(of: requests[0].payload) + 1_000_001)
        }
        let (merged, _) = try await conflict(.merge { _, _ in .off })
        #expect(merged == .off)
    }

    /// Listens to changes, and returns when it does: the collar changes the state until an element comes.
    private func listening(_ session: MockSession, _ light: SharedState<LightMode>) async throws -> Task<[SharedStateChange<LightMode>], any Error> {
        let count = Mutex(0)
        let task = Task { () throws -> [SharedStateChange<LightMode>] in
            var found: [SharedStateChange<LightMode>] = []
            for try await change in light.changes {
                found.append(change)
                count.withLock { $0 += 1 }
            }
            return found
        }
        var number = UInt64(session.clock.now.timeIntervalSince1970 * 1000) - 1_000_000
        while count.withLock({ $0 }) == 0 {
            number += 1
            try await session.receiveMessage(code: 255, payload: Self.bytes([0], number: number, origin: 0))
            try await Task.sleep(for: .milliseconds(5))
        }
        return task
    }

    @Test func changesNameTheirOrigin() async throws {
        let session = try MockSession()
        await accept(session)
        let light = light(session)
        let task = try await listening(session, light)
        let number = UInt64((session.clock.now.timeIntervalSince1970 * 1000).rounded())
        try await session.receiveMessage(code: 255, payload: Self.bytes([1], number: number + 10, origin: 0))
        // Late, and unreadable.
        try await session.receiveMessage(code: 255, payload: Self.bytes([0], number: number, origin: 0))
        try await session.receiveMessage(code: 255, payload: Self.bytes([77], number: number + 11, origin: 0))
        // A reply to another receiver.
        try await session.receiveMessage(
            code: 255, payload: Self.bytes([2], number: number + 12, origin: Self.otherReceiver), inReplyTo: 500)
        try await light.set(.off)
        await session.finish()
        let found = try await Array(task.value.suffix(3))
        #expect(found.map(\.value) == [.on, .blinking, .off])
        #expect(found.map(\.origin) == [.collar, .otherReceiver("abcde"), .thisReceiver])
        #expect(found.first?.date == Date(unixMilliseconds: Int64(number + 10)))
        #expect(found.first?.receivedDate == session.clock.now)
    }

    /// A change of another receiver comes while this host's own change waits in the queue.
    @Test func aConflictIsResolvedWhileAProgramListens() async throws {
        let session = try MockSession()
        await session.answerRequests { _ in .queued }
        let light = light(session, .host)
        let setting = Task { await RequestTests.error { () async throws(UserFacingError) in try await light.set(.on) } }
        while await session.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        setting.cancel()
        _ = await setting.value
        let task = try await listening(session, light)
        let number = try Self.number(of: try #require(await session.requests.first).payload)
        try await session.receiveMessage(code: 255, payload: Self.bytes([2], number: number + 5, origin: Self.otherReceiver))
        while await session.requests.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        let again = try #require(await session.requests.last)
        #expect(try Self.number(of: again.payload) == number + 6 && again.payload.last == 1)
        #expect(try await light.value == .on)
        try await session.receiveMessage(code: 255, payload: again.payload, inReplyTo: again.number)
        await session.finish()
        #expect(try await task.value.map(\.value).suffix(2) == [.blinking, .on])
        #expect(try await light.value == .on)
    }
}
