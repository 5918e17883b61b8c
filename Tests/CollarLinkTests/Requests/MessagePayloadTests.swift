import CollarErrors
import CollarLinkTesting
import Testing

@testable import CollarLink

/// Values as bytes, and what is checked of types of messages.
@Suite struct MessagePayloadTests {
    private enum Mode: UInt8, MessagePayload { case off, on }

    private func expectBack<Value: MessagePayload & Equatable>(_ value: Value, _ bytes: [UInt8]) throws {
        #expect(value.payload == bytes)
        #expect(try Value(payload: bytes) == value)
        #expect(bytes.count <= Value.maximumByteCount)
    }

    @Test func valuesComeBack() throws {
        try expectBack(UInt8(200), [200])
        try expectBack(Int8(-1), [255])
        try expectBack(UInt16(0x1234), [0x12, 0x34])
        try expectBack(Int32(-2), [255, 255, 255, 254])
        try expectBack(UInt64(0x0102_0304_0506_0708), [1, 2, 3, 4, 5, 6, 7, 8])
        try expectBack(Int64.min, [0x80, 0, 0, 0, 0, 0, 0, 0])
        try expectBack("Käse", [0x4B, 0xC3, 0xA4, 0x73, 0x65])
        try expectBack([9, 8] as [UInt8], [9, 8])
        try expectBack(NoPayload(), [])
        try expectBack(Mode.on, [1])
    }

    @Test func otherBytesAreRefused() {
        #expect(throws: PayloadError.self) { try UInt16(payload: [1]) }
        #expect(throws: PayloadError.self) { try UInt8(payload: []) }
        #expect(throws: PayloadError.self) { try String(payload: [0xFF]) }
        #expect(throws: PayloadError.self) { try NoPayload(payload: [0]) }
        #expect(throws: PayloadError.self) { try Mode(payload: [2]) }
    }

    @Test func typesHaveTheirSizes() {
        #expect(UInt32.maximumByteCount == 4 && Mode.maximumByteCount == 1 && NoPayload.maximumByteCount == 0 && String.maximumByteCount == 20)
    }
}
