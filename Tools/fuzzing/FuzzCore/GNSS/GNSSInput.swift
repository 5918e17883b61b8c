/// Inputs of the targets that read a GNSS receiver's bytes. They have no context.
enum GNSSInput {
    static let maximumByteCount = 2400

    static func make(_ content: GNSSStream.Content, seed: UInt64, into input: inout [UInt8]) {
        input += GNSSStream(content, seed: seed).bytes.prefix(maximumByteCount)
    }

    /// One stream for each vector that is a serial line; libFuzzer begins with them.
    static func seeds(_ content: GNSSStream.Content, from vector: SeedVector) -> [[UInt8]] {
        guard let serial = vector.serial else { return [] }
        var digest = Digest()
        for byte in serial { digest.add(byte) }
        return [Array(GNSSStream(content, seed: digest.value).bytes.prefix(maximumByteCount))]
    }

    static func describe(_ input: [UInt8]) -> InputDescription {
        var description = InputDescription()
        description.serial = input
        return description
    }
}
