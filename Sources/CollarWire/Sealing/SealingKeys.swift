/// The secret of 128 bits that a collar and its receiver share.
public struct CollarKey: Equatable, Sendable {
    /// Bytes of a key.
    public static var byteCount: Int { 16 }

    let words: Words128

    /// The bytes of the key.
    public var bytes: InlineArray<16, UInt8> { .init { words.byte(at: $0) } }

    /// Whether two keys are equal. The time does not depend on the keys.
    public static func == (left: CollarKey, right: CollarKey) -> Bool {
        (left.words.low ^ right.words.low) | (left.words.high ^ right.words.high) == 0
    }

    /// Reads a key.
    /// - Precondition: `bytes` has 16 bytes.
    public init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == CollarKey.byteCount, "a key has 16 bytes")
        words = Words128(
            bytes.bigEndian(at: 0, byteCount: 4), bytes.bigEndian(at: 4, byteCount: 4),
            bytes.bigEndian(at: 8, byteCount: 4), bytes.bigEndian(at: 12, byteCount: 4))
    }

    init(_ words: Words128) { self.words = words }
}

/// The keys for the sealed frames of one collar. They are derived from its ``CollarKey`` and its device id (PROTOCOL.md,
/// section 22).
public struct SealingKeys: Sendable {
    /// Seals the frames of the collar.
    let up: Words128
    /// Seals the frames of the host.
    let down: Words128
    /// Makes the salt in the nonces of the host.
    let salt: Words128
    /// Hides the clear part of an identity.
    let mask: Words128

    /// Derives the keys.
    public init(_ key: CollarKey, deviceID: DeviceID) {
        let hash = SealingKeys.hash(of: key, deviceID: deviceID)
        up = SealingKeys.derived(from: hash, label: 0x7570, byteCount: 2)
        down = SealingKeys.derived(from: hash, label: 0x646F_776E, byteCount: 4)
        salt = SealingKeys.derived(from: hash, label: 0x7361_6C74, byteCount: 4)
        mask = SealingKeys.derived(from: hash, label: 0x6D61_736B, byteCount: 4)
    }

    /// A number that tells two keys of a collar apart and tells nothing else of them. It is not used on the air.
    public static func fingerprint(of key: CollarKey, deviceID: DeviceID) -> UInt32 {
        UInt32(truncatingIfNeeded: derived(from: key, deviceID: deviceID, label: 0x6E61_6D65, byteCount: 4).low)
    }

    /// Derives a value of 16 bytes from the key of a collar. The label is as in ``derived(from:label:byteCount:)``.
    static func derived(from key: CollarKey, deviceID: DeviceID, label: UInt32, byteCount: Int) -> Words128 {
        derived(from: hash(of: key, deviceID: deviceID), label: label, byteCount: byteCount)
    }

    /// A hash that has taken in a key and a device id.
    private static func hash(of key: CollarKey, deviceID: DeviceID) -> AsconCXOF128 {
        var hash = hash(of: key.words, byteCount: CollarKey.byteCount)
        hash.absorb(UInt32(truncatingIfNeeded: deviceID.rawValue &>> 32), byteCount: 4)
        hash.absorb(UInt32(truncatingIfNeeded: deviceID.rawValue), byteCount: 4)
        return hash
    }

    @inline(never)
    /// Derives a value of 16 bytes.
    /// - Parameters:
    ///   - hash: has taken in the key and the device id.
    ///   - label: the ASCII bytes of the label, the last one lowest: 0x7570 is "up".
    ///   - byteCount: bytes of the label, 1 … 4.
    private static func derived(from hash: AsconCXOF128, label: UInt32, byteCount: Int) -> Words128 {
        var hash = hash
        hash.absorb(label, byteCount: byteCount)
        hash.end()
        let low = hash.next()
        return Words128(low: low, high: hash.next())
    }

    @inline(never)
    /// A new hash that has taken in the first `byteCount` bytes of a key.
    static func hash(of key: Words128, byteCount: Int) -> AsconCXOF128 {
        var hash = AsconCXOF128(customization: customization.span)
        hash.absorb(key, byteCount: byteCount)
        return hash
    }

    /// "collar-link 1" in ASCII.
    private static let customization: InlineArray<13, UInt8> = [
        0x63, 0x6F, 0x6C, 0x6C, 0x61, 0x72, 0x2D, 0x6C, 0x69, 0x6E, 0x6B, 0x20, 0x31,
    ]
}
