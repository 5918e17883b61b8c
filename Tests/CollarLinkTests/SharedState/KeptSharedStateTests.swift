import CollarJournal
import CollarWire
import Testing

@testable import CollarLink

/// What this host knows of a shared state, message by message, and the text in which it is kept.
@Suite struct KeptSharedStateTests {
    private static let own: UInt32 = 0x0B_0003

    private func sharing(_ rule: StateRule) -> StateSharing { StateSharing(receiverID: 0x7700_0000 | Self.own, rule: rule) }

    private func state(_ bytes: [UInt8], _ number: UInt64, origin: UInt32 = 5) throws -> SharedStateMessage {
        try StateResolutionTests.state(bytes, number, origin: origin)
    }

    /// A macro cannot call what changes a value.
    private func required(_ state: SharedStateMessage?) throws -> SharedStateMessage { try #require(state) }

    @Test func theHighestVersionOfTheCollarCounts() throws {
        var kept = KeptSharedState()
        #expect(try kept.take(state([1], 10), in: sharing(.latest), at: 0) == nil)
        // Late, and once more.
        for late in [try state([0], 9), try state([1], 10), try state([7], 10)] { #expect(kept.take(late, in: sharing(.latest), at: 0) == nil) }
        #expect(try kept.current == state([1], 10))
        // A forged version must not freeze the state.
        #expect(try kept.take(state([3], 1 << 43), in: sharing(.latest), at: 0) == nil)
        #expect(try kept.current == state([1], 10))
    }

    @Test func aConfirmedChangeIsNoConflict() throws {
        var kept = KeptSharedState()
        let change = try required(kept.change(to: [1], in: sharing(.collar), at: 1000))
        #expect(try change == state([1], 1000, origin: Self.own) && kept.pending == change)
        #expect(kept.take(change, in: sharing(.collar), at: 1001) == nil)
        #expect(kept.pending == nil && kept.confirmed == change)
        // The clock went back.
        #expect(try kept.change(to: [2], in: sharing(.collar), at: 5)?.version == state([], 1001, origin: Self.own).version)
    }

    @Test func anOlderChangeOfThisHostIsNoConflict() throws {
        var kept = KeptSharedState()
        let first = try required(kept.change(to: [1], in: sharing(.collar), at: 1000))
        let second = try required(kept.change(to: [2], in: sharing(.collar), at: 2000))
        #expect(kept.take(first, in: sharing(.collar), at: 2001) == nil)
        #expect(kept.pending == second && kept.confirmed == first && kept.current == second)
    }

    @Test func theHostWins() throws {
        var kept = KeptSharedState()
        let change = try required(kept.change(to: [1], in: sharing(.host), at: 1000))
        // A lower version loses at the collar by itself.
        #expect(try kept.take(state([2], 900), in: sharing(.host), at: 1001) == nil)
        #expect(kept.pending == change)
        let again = try required(kept.take(try state([3], 5000), in: sharing(.host), at: 1002))
        #expect(try again == state([1], 5001, origin: Self.own) && kept.current == again)
    }

    @Test func theCollarWins() throws {
        var kept = KeptSharedState()
        let change = try required(kept.change(to: [1], in: sharing(.collar), at: 1000))
        var other = kept
        let newer = try state([3], 5000)
        #expect(other.take(newer, in: sharing(.collar), at: 1001) == nil)
        #expect(other.pending == nil && other.current == newer)
        // The change of this host would win at the collar, so the other state is sent with a version above it.
        let again = try required(kept.take(try state([2], 900), in: sharing(.collar), at: 1001))
        #expect(again.bytes == [2] && again.version > change.version && kept.pending == again)
    }

    @Test func aMergeIsSentAboveBoth() throws {
        let merge = sharing(.merge { local, remote in local + remote })
        for number in [900, 5000] as [UInt64] {
            var kept = KeptSharedState()
            let change = try required(kept.change(to: [1], in: merge, at: 1000))
            let remote = try state([2], number)
            let merged = try required(kept.take(remote, in: merge, at: 1001))
            #expect(merged.bytes == [1, 2] && merged.version > max(change.version, remote.version))
            #expect(kept.take(merged, in: merge, at: 1002) == nil && kept.pending == nil && kept.current == merged)
        }
    }

    @Test func aChangeIsForgottenWithItsRequest() throws {
        var kept = KeptSharedState()
        let change = try required(kept.change(to: [1], in: sharing(.host), at: 1000))
        kept.dropOldPending(at: 1000 + 604_800_000)
        #expect(kept.pending == change)
        kept.dropOldPending(at: 1001 + 604_800_000)
        #expect(kept.pending == nil)
        let next = try required(kept.change(to: [1], in: sharing(.host), at: 9))
        kept.dropPending(change)
        #expect(kept.pending == next)
    }

    @Test func theTextComesBack() throws {
        var kept = KeptSharedState()
        #expect(KeptSharedState(text: kept.text) == kept)
        kept.seenUnixMilliseconds = 1_795_755_249_677
        kept.confirmed = try state([], 77)
        kept.pending = try state([UInt8](0..<12), 1 << 40, origin: 0xF_FFFF)
        #expect(KeptSharedState(text: kept.text) == kept)
        #expect(kept.text.hasPrefix("collar-link shared state 1\nseen 1795755249677\nconfirmed 0000000004d00005 \n"))
    }

    @Test(arguments: [
        "", "collar-link shared state 1", "collar-link shared state 2\n", "collar-link shared state 1\nseen -1\n",
        "collar-link shared state 1\nconfirmed 1 00\n", "collar-link shared state 1\nconfirmed 0000000000000000 \n",
        "collar-link shared state 1\npending 0000000000000001 0\n", "collar-link shared state 1\nother 1\n",
        "collar-link shared state 1\nconfirmed 0000000000000001 00112233445566778899aabbcc\n",
    ])
    func anyOtherTextIsRefused(text: String) { #expect(KeptSharedState(text: text) == nil) }
}
