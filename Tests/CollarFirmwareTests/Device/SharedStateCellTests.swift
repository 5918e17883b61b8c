import CollarWire
import Testing

@testable import CollarFirmware

/// The collar's end of a shared state.
@Suite struct SharedStateCellTests {
    private func version(_ number: UInt64, origin: UInt32 = 7) throws -> SettingsVersion {
        try #require(SettingsVersion(number: number, origin: origin))
    }

    private func state(_ bytes: [UInt8], _ number: UInt64) throws -> SharedStateMessage {
        let made = SharedStateMessage(version: try version(number), state: bytes.span)
        return try #require(made)
    }

    private func message(_ state: SharedStateMessage, _ kind: ApplicationMessage.Kind = .request) -> HostMessage {
        HostMessage(requestID: 812, receiverID: 5, content: state.message(kind, unixSeconds: 0))
    }

    @Test func theHigherVersionWins() throws {
        var cell = SharedStateCell()
        let first = try state([1], 100)
        #expect(cell.take(message(first), unixSeconds: 3) == first.message(.reply(to: 812, .ok), unixSeconds: 3))
        #expect(cell.contents == first)
        #expect(try cell.take(message(state([2], 99)), unixSeconds: 0) == first.message(.reply(to: 812, .conflict), unixSeconds: 0))
        #expect(try cell.take(message(state([2], 100)), unixSeconds: 0) == first.message(.reply(to: 812, .conflict), unixSeconds: 0))
        #expect(cell.take(message(first), unixSeconds: 0) == first.message(.reply(to: 812, .ok), unixSeconds: 0))
        let second = try state([2], 101)
        #expect(cell.take(message(second), unixSeconds: 0) == second.message(.reply(to: 812, .ok), unixSeconds: 0))
        #expect(cell.contents == second)
    }

    @Test func aQuestionChangesNothing() throws {
        let kept = try state([4], 50)
        var cell = SharedStateCell(kept)
        #expect(cell.take(message(SharedStateMessage()), unixSeconds: 0) == kept.message(.reply(to: 812, .ok), unixSeconds: 0))
        #expect(cell.contents == kept)
    }

    @Test func anImplausibleVersionIsInvalid() throws {
        let kept = try state([4], 50)
        var cell = SharedStateCell(kept)
        let frozen = try state([9], 1 << 44 - 1)
        #expect(cell.take(message(frozen), unixSeconds: 0) == kept.message(.reply(to: 812, .invalid), unixSeconds: 0))
        let two: [UInt8] = [1, 2]
        let short = ApplicationMessage(kind: .request, code: 255, unixSeconds: 0, data: two.span)
        let request = HostMessage(requestID: 1, receiverID: 5, content: try #require(short))
        #expect(cell.take(request, unixSeconds: 0) == kept.message(.reply(to: 1, .invalid), unixSeconds: 0))
        #expect(cell.contents == kept)
    }

    @Test func otherMessagesAreNotTaken() throws {
        var cell = SharedStateCell()
        #expect(try cell.take(message(state([1], 1), .notice), unixSeconds: 0) == nil)
        let none: [UInt8] = []
        let other = ApplicationMessage(kind: .request, code: 3, unixSeconds: 0, data: none.span)
        #expect(cell.take(HostMessage(requestID: 1, receiverID: 5, content: try #require(other)), unixSeconds: 0) == nil)
        #expect(cell.contents == SharedStateMessage())
    }

    @Test func aChangeOfTheCollarHasAHigherVersionAndTheOriginZero() throws {
        var cell = SharedStateCell(try state([1], 5000))
        let (two, three): ([UInt8], [UInt8]) = ([2], [3])
        let notice = cell.change(to: two.span, unixMilliseconds: 4000)
        #expect(try cell.contents.version == version(5001, origin: 0))
        #expect(notice == cell.contents.message(.notice, unixSeconds: 4))
        _ = cell.change(to: three.span, unixMilliseconds: 9000)
        #expect(try cell.contents.version == version(9000, origin: 0))
        let long = [UInt8](repeating: 0, count: 13)
        #expect(cell.change(to: long.span, unixMilliseconds: 0) == nil)
        #expect(try cell.contents.version == version(9000, origin: 0))
    }
}
