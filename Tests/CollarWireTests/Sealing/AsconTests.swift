import CollarSimulator
import CollarWire
import Foundation
import Testing

/// Ascon against the known answers of the algorithm's authors, see `Tests/KnownAnswers/README.md`.
@Suite struct AsconTests {
    /// The cases of a file: the bytes of each value by name.
    private func cases(_ file: String) throws -> [[String: [UInt8]]] {
        let folder = try Repository.root().appending(path: "Tests")
        let text = try String(contentsOf: folder.appending(path: "KnownAnswers/\(file)"), encoding: .utf8)
        var cases: [[String: [UInt8]]] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", omittingEmptySubsequences: false).map { $0.filter { !$0.isWhitespace } }
            guard parts.count == 2 else { continue }
            if parts[0] == "Count" {
                cases.append([:])
            } else {
                cases[cases.count - 1][parts[0]] = try [UInt8](hexadecimal: parts[1])
            }
        }
        return cases
    }

    private func bytes(_ words: Words128) -> [UInt8] {
        [words.low, words.high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private func cipher(_ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) -> AsconAEAD128 {
        var cipher = AsconAEAD128(key: Words128(key.span), nonce: Words128(nonce.span))
        cipher.absorb(data.span, from: 0, to: data.count)
        return cipher
    }

    private func seal(
        _ text: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]
    ) -> (text: [UInt8], tag: Words128) {
        var text = text
        var span = text.mutableSpan
        let tag = cipher(key, nonce, data).seal(&span, from: 0)
        return (text, tag)
    }

    @Test func sealingGivesTheKnownAnswersAndOpeningUndoesIt() throws {
        let cases = try cases("LWC_AEAD_KAT_128_128.txt")
        #expect(cases.count == 1089)
        for one in cases {
            let (key, nonce) = (try #require(one["Key"]), try #require(one["Nonce"]))
            let (text, data) = (one["PT"] ?? [], one["AD"] ?? [])
            let sealed = seal(text, key, nonce, data)
            #expect(sealed.text + bytes(sealed.tag) == one["CT"])
            var opened = sealed.text
            var span = opened.mutableSpan
            let tag = cipher(key, nonce, data).open(&span, from: 0)
            #expect(opened == text)
            #expect(tag.isEqual(to: sealed.tag, byteCount: 8))
            #expect(bytes(tag) == bytes(sealed.tag))
        }
    }

    @Test func hashingGivesTheKnownAnswers() throws {
        let cases = try cases("LWC_CXOF_KAT_128_512.txt")
        #expect(cases.count == 1089)
        for one in cases {
            let (customization, message) = (one["Z"] ?? [], one["Msg"] ?? [])
            var hash = AsconCXOF128(customization: customization.span)
            hash.absorb(message.span, from: 0, to: message.count)
            hash.end()
            let output = (0..<4).flatMap { _ in bytes(Words128(low: hash.next(), high: hash.next())) }
            #expect(output == one["MD"])
        }
    }

    /// Any change of key, nonce, associated data or ciphertext gives another tag.
    @Test func everyBitMatters() {
        var random = SeededRandom(seed: 0xA5C0)
        let inputs = [random.bytes(16), random.bytes(16), random.bytes(19), random.bytes(37)]
        let tag = seal(inputs[3], inputs[0], inputs[1], inputs[2]).tag
        for part in inputs.indices {
            for bit in 0..<8 * inputs[part].count {
                var changed = inputs
                changed[part][bit / 8] ^= 1 << UInt8(bit % 8)
                let other = seal(changed[3], changed[0], changed[1], changed[2]).tag
                #expect(!other.isEqual(to: tag, byteCount: 8))
            }
        }
    }

    @Test func tagsAreComparedByTheirFirstBytes() {
        let tag = Words128(low: 0x0807_0605_0403_0201, high: 0)
        for byteCount in 1...8 {
            for index in 0..<8 {
                let other = Words128(low: tag.low ^ 0x80 << UInt64(8 * index), high: 1)
                #expect(other.isEqual(to: tag, byteCount: byteCount) == (index >= byteCount))
            }
        }
    }
}
