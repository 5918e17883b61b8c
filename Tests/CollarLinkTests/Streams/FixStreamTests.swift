import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Testing

/// The streams of fixes: what a program gets, how often, and where it goes on.
@Suite struct FixStreamTests {
    /// The sequences of all elements of a stream, until it ends.
    private func sequences(_ stream: StoredStream<LocationFix>) async throws -> [Int] {
        var found: [Int] = []
        for try await fix in stream { found.append(fix.sequence) }
        return found
    }

    /// The first elements of a stream; the last one is not taken.
    private func first(_ count: Int, of stream: StoredStream<LocationFix>) async throws -> [Int] {
        var found: [Int] = []
        for try await fix in stream {
            found.append(fix.sequence)
            if found.count == count { break }
        }
        return found
    }

    @Test(arguments: 1...20) func everyFixComesOnceThroughALossyRadio(seed: Int) async throws {
        let session = try FlakySession(loss: 0.3, burst: seed % 2 == 0 ? 3 : nil, corrupt: seed % 3 == 0 ? 0.001 : 0, seed: UInt64(seed))
        var ids: Set<UUID> = []
        var count = 0
        for try await fix in session.collar.fixes(.everything) {
            ids.insert(fix.id)
            count += 1
        }
        #expect(count == 106 && ids.count == 106)
    }

    @Test func consumersDoNotDisturbOneAnother() async throws {
        let session = try FlakySession(loss: 0.3, seed: 4)
        async let fast = sequences(session.collar.fixes(.everything(as: "fast")))
        async let slow: [Int] = {
            var found: [Int] = []
            for try await fix in session.collar.fixes(.everything(as: "slow")) {
                found.append(fix.sequence)
                if found.count % 30 == 0 { try await Task.sleep(for: .milliseconds(20)) }
            }
            return found
        }()
        #expect(try await fast.sorted() == Array(0..<106))
        #expect(try await slow.sorted() == Array(0..<106))
    }

    @Test(arguments: 1...10) func aReceiverThatIsKilledLosesNothing(seed: Int) async throws {
        let session = try FlakySession(loss: 0.3, seed: UInt64(seed))
        var found: [Int: Int] = [:]
        for try await fix in session.collar.fixes(.everything) {
            found[fix.sequence, default: 0] += 1
            if found.count % 25 == 0 { try await session.restartReceiver() }
        }
        #expect(found.count == 106 && found.values.allSatisfy { $0 == 1 })
    }

    @Test func aLoopThatEndsEarlyGetsItsLastElementAgain() async throws {
        let session = try MockSession()
        for sequence in 0..<5 { try await session.receive(.sample(sequence: sequence)) }
        await session.finish()
        let stream = session.collar.fixes(.everything)
        #expect(try await first(2, of: stream) == [0, 1])
        #expect(try await first(2, of: stream) == [1, 2])
        #expect(try await sequences(stream) == [2, 3, 4])
        #expect(try await sequences(stream) == [])
        // Another value without a name begins at the oldest entry.
        #expect(try await first(1, of: session.collar.fixes(.everything)) == [0])
    }

    @Test func aNamedReaderGoesOnInAnotherRun() async throws {
        let session = try MockSession()
        for sequence in 0..<5 { try await session.receive(.sample(sequence: sequence)) }
        await session.finish()
        #expect(try await first(3, of: session.collar.fixes(.everything(as: "bell"))) == [0, 1, 2])
        #expect(try await sequences(session.collar.fixes(.everything(as: "bell"))) == [2, 3, 4])
        #expect(try await sequences(session.collar.fixes(.everything(as: "bell"))) == [])
        #expect(try await sequences(session.collar.fixes(.everything(as: "other"))) == [0, 1, 2, 3, 4])
    }

    @Test func twoLoopsUnderOneNameAreRefused() async throws {
        let session = try MockSession()
        for sequence in 0..<2 { try await session.receive(.sample(sequence: sequence)) }
        var holder = session.collar.fixes(.everything(as: "bell")).makeAsyncIterator()
        #expect(try await holder.next()?.sequence == 0)
        let error = await #expect(throws: UserFacingError.self) { try await first(1, of: session.collar.fixes(.everything(as: "bell"))) }
        #expect(error?.failureReason?.contains("bell") == true)
        #expect(try await holder.next()?.sequence == 1)
    }

    @Test func aNewIterationEndsTheOneBefore() async throws {
        let session = try MockSession()
        for sequence in 0..<3 { try await session.receive(.sample(sequence: sequence)) }
        let stream = session.collar.fixes(.everything)
        var former = stream.makeAsyncIterator()
        #expect(try await former.next()?.sequence == 0)
        var new = stream.makeAsyncIterator()
        #expect(try await new.next()?.sequence == 0)
        #expect(try await former.next() == nil)
        #expect(try await new.next()?.sequence == 1)
    }

    @Test func aNameThatIsNoneIsRefused() async throws {
        let session = try MockSession()
        let error = await #expect(throws: UserFacingError.self) { try await sequences(session.collar.fixes(.everything(as: "../x"))) }
        #expect(error?.code == .badRequest && error?.reason.contains("'../x'") == true)
    }

    @Test func theLatestComesFirstAndLateOnesNever() async throws {
        let session = try MockSession()
        for sequence in [0, 1, 7] { try await session.receive(.sample(sequence: sequence)) }
        var latest = session.collar.fixes(.latestOnly).makeAsyncIterator()
        #expect(try await latest.next()?.sequence == 7)
        for sequence in [8, 9, 3, 10, 4] { try await session.receive(.sample(sequence: sequence)) }
        #expect(try await latest.next()?.sequence == 10)
        for sequence in [2, 11, 5] { try await session.receive(.sample(sequence: sequence)) }
        await session.finish()
        #expect(try await latest.next()?.sequence == 11)
        #expect(try await latest.next() == nil)
    }

    @Test func aBufferKeepsTheNewest() async throws {
        let session = try MockSession()
        try await session.receive(.sample(sequence: 0))
        session.clock.advance(bySeconds: 1)
        // The stream begins at the time of the first call.
        try await session.receive(.sample(sequence: 1))
        var buffered = session.collar.fixes(.buffered(limit: 3)).makeAsyncIterator()
        #expect(try await buffered.next()?.sequence == 1)
        for sequence in 2...6 { try await session.receive(.sample(sequence: sequence)) }
        await session.finish()
        var rest: [Int] = []
        while let fix = try await buffered.next() { rest.append(fix.sequence) }
        #expect(rest == [4, 5, 6])
    }

    @Test func cancellationEndsALoopAndIsNoError() async throws {
        let session = try MockSession()
        try await session.receive(.sample(sequence: 0))
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var found: [Int] = []
            for try await fix in session.collar.fixes(.everything) {
                found.append(fix.sequence)
                begin.finish()
            }
            return found
        }
        for await _ in begun {}
        // The clock of the session stands still: nothing else would end the loop.
        task.cancel()
        #expect(try await task.value == [0])
    }

    @Test func aMissingDirectoryIsAnErrorThatSaysTheRemedy() async throws {
        let collar = Collar(stateDirectory: "/proc/self/no-such-directory")
        let error = await #expect(throws: UserFacingError.self) { try await sequences(collar.fixes) }
        #expect(error?.code == .noReceiver && error?.recoverySuggestion != nil)
        #expect("\(try #require(error))".hasPrefix("No receiver: There is no directory /proc/self/no-such-directory."))
    }

    @Test func aJournalThatCannotBeReadThrowsAndTheNextIterationGoesOn() async throws {
        let session = try MockSession()
        for sequence in 0..<2 { try await session.receive(.sample(sequence: sequence)) }
        let stream = session.collar.fixes(.everything)
        #expect(try await first(2, of: stream) == [0, 1])
        let folder = "\(session.stateDirectory)/\(session.collarID)"
        try FileManager.default.moveItem(atPath: folder, toPath: "\(session.stateDirectory)/aside")
        try FileManager.default.createDirectory(atPath: "\(folder)/00000001.journal", withIntermediateDirectories: true)
        // Without the error, the stream would end.
        await session.finish()
        // The element that was not taken comes again without a look at the files.
        for expected in [[1], []] {
            var found: [Int] = []
            await #expect(throws: UserFacingError.self) { for try await fix in stream { found.append(fix.sequence) } }
            #expect(found == expected)
        }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: "\(session.stateDirectory)/aside", toPath: folder)
        try await session.receive(.sample(sequence: 2))
        #expect(try await sequences(stream) == [2])
    }
}
