import Testing

@testable import CollarWire

/// The layout of a shared state in a message.
@Suite struct SharedStateMessageTests {
    private func state(_ bytes: [UInt8], version: UInt64) throws -> SharedStateMessage {
        let made = SharedStateMessage(version: SettingsVersion(rawValue: version), state: bytes.span)
        return try #require(made)
    }

    private func data(of message: ApplicationMessage) -> [UInt8] { message.data.indices.map { message.data[$0] } }

    @Test func theVersionComesFirstWithItsHighestByte() throws {
        let message = try state([0xAB, 0xCD], version: 0x0102_0304_0506_0708).message(.request, unixSeconds: 9)
        #expect(data(of: message) == [1, 2, 3, 4, 5, 6, 7, 8, 0xAB, 0xCD])
        #expect(message.kind == .request && message.code == 255 && message.unixSeconds == 9)
    }

    @Test func statesOfEveryLengthComeBack() throws {
        let kinds: [ApplicationMessage.Kind] = [.notice, .request, .reply(to: 77, .conflict)]
        for count in 0...SharedStateMessage.stateLimit {
            let made = try state([UInt8](0..<UInt8(count)), version: .max - UInt64(count))
            for kind in kinds {
                let message = made.message(kind, unixSeconds: 0)
                #expect(message.kind == kind && message.data.count == 8 + count)
                #expect(SharedStateMessage(message) == made)
            }
        }
        #expect(SharedStateMessage(SharedStateMessage().message(.request, unixSeconds: 0)) == SharedStateMessage())
    }

    @Test func whatIsNoSharedStateIsRefused() throws {
        let bytes = [UInt8](repeating: 1, count: 13)
        #expect(SharedStateMessage(version: .defaults, state: bytes.span) == nil)
        for count in 0..<8 {
            let short = ApplicationMessage(kind: .notice, code: 255, unixSeconds: 0, data: bytes.span.extracting(0..<count))
            #expect(SharedStateMessage(try #require(short)) == nil)
        }
        let other = ApplicationMessage(kind: .notice, code: 254, unixSeconds: 0, data: bytes.span)
        #expect(SharedStateMessage(try #require(other)) == nil)
    }

    @Test func equalityLooksAtVersionAndBytes() throws {
        let one = try state([1], version: 5)
        #expect(try one == state([1], version: 5) && one != state([1], version: 6) && one != state([2], version: 5))
        #expect(try one != state([1, 0], version: 5))
        #expect(try one.hasSameState(as: state([1], version: 6)) && !one.hasSameState(as: state([], version: 5)))
    }
}
