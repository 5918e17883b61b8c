import CollarARQ
import CollarErrors
import CollarJournal
import CollarLinkTesting
import Testing

@testable import CollarLink

/// Connection and health as streams of states.
@Suite struct ConnectionTests {
    /// A receiver that answers other users only.
    private struct DeniedAccess: ReceiverAccess {
        let base: any ReceiverAccess

        func stateDirectory() throws(UserFacingError) -> String { try base.stateDirectory() }
        var animalPaths: [String] { base.animalPaths }
        var placePaths: [String] { base.placePaths }
        var time: HostTime { base.time }
        func wait(for descriptors: [Int32], until deadline: Instant?) async -> WaitResult {
            await base.wait(for: descriptors, until: deadline)
        }
        func connect() async throws(UserFacingError) -> any ControlLink {
            throw UserFacingError(.notPermitted, reason: "Only the user who runs collar-link, and root, may send requests.")
        }
    }

    @Test func wordsAndColours() {
        #expect(ConnectionStatus.allCases.map(\.title) == ["Connecting to collar…", "Collar not reachable", "Connected"])
        #expect(ConnectionStatus.allCases.map(\.colorName) == ["orange", "red", "green"])
    }

    @Test func theConnectionFollowsRadioCollarAndReceiver() async throws {
        let session = try MockSession()
        var states = session.collar.connection.makeAsyncIterator()
        #expect(try await states.next() == .connecting)
        await session.setReachable(true)
        try await session.report(.heard(port: "radio"))
        #expect(try await states.next() == .connected)
        // No change.
        try await session.report(.late)
        await session.setReachable(false)
        try await session.report(.unreachable)
        #expect(try await states.next() == .notReachable)
        await session.setReachable(nil, isRadioOpen: false)
        try await session.report(.unplugged(port: "radio"))
        #expect(try await states.next() == .connecting)
        await session.setReachable(true)
        try await session.report(.reachable)
        #expect(try await states.next() == .connected)
        await session.stopReceiver()
        #expect(try await states.next() == .connecting)
        await session.startReceiver()
        session.clock.advance(bySeconds: 5)
        #expect(try await states.next() == .connected)
        await session.finish()
        #expect(try await states.next() == nil)
    }

    @Test func withoutPermissionForRequestsTheEventsSayTheState() async throws {
        let session = try MockSession()
        try await session.report(.opened(port: "radio"))
        try await session.report(.heard(port: "radio"))
        let collar = Collar(nil, DeniedAccess(base: session.collar.access))
        var states = collar.connection.makeAsyncIterator()
        #expect(try await states.next() == .connected)
        let changes: [(CollarEvent.Kind, ConnectionStatus)] = [
            (.unreachable, .notReachable), (.reachable, .connected), (.unplugged(port: "radio"), .connecting),
            (.opened(port: "radio"), .connected),
            // The receiver was stopped and started.
            (.opened(port: "radio"), .connecting), (.heard(port: "radio"), .connected), (.closed(port: "radio"), .connecting),
        ]
        for (event, state) in changes {
            try await session.report(event)
            #expect(try await states.next() == state, "\(event)")
        }
    }

    @Test func aLossyRadioConnects() async throws {
        let session = try FlakySession(loss: 0.3, seed: 11)
        var found: [ConnectionStatus] = []
        for try await state in session.collar.connection { found.append(state) }
        #expect(found.first == .connecting && found.contains(.connected))
        #expect(zip(found, found.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func healthBeginsWithTheStateInTheEventLog() async throws {
        let session = try MockSession()
        var fresh = session.collar.health.makeAsyncIterator()
        #expect(try await fresh.next() == .healthy)
        try await session.report(.degraded)
        try await session.report(.unhealthy)
        var states = session.collar.health.makeAsyncIterator()
        #expect(try await states.next() == .unhealthy)
        for (event, state) in [(CollarEvent.Kind.healthy, CollarHealth.healthy), (.degraded, .degraded), (.reachable, .healthy)] {
            try await session.report(event)
            #expect(try await states.next() == state)
        }
        await session.finish()
        #expect(try await states.next() == nil)
        #expect(CollarHealth.unhealthy.error?.code == .linkUnhealthy && CollarHealth.unhealthy.remedy != nil)
        #expect(CollarHealth.degraded.error == nil && CollarHealth.healthy.remedy == nil)
        #expect(CollarHealth.allCases.map(\.title) == ["Healthy", "Degraded", "Unhealthy"])
    }

    @Test func cancellationEndsALoopWithoutAnError() async throws {
        let session = try MockSession()
        let collar = session.collar
        let connection = Task { for try await _ in collar.connection {} }
        let health = Task { for try await _ in collar.health {} }
        try await Task.sleep(for: .milliseconds(50))
        // The clock of the session stands still: nothing else would end the loops.
        connection.cancel()
        health.cancel()
        try await connection.value
        try await health.value
    }

    @Test func anUnknownAnimalIsAnError() async throws {
        let session = try MockSession()
        var states = session.collar(named: "Hera").connection.makeAsyncIterator()
        let error = await #expect(throws: UserFacingError.self) { try await states.next() }
        #expect(error?.code == .unknownCollar)
    }
}
