/// Shows that its sender knows a key of a collar, and does not reveal the key (PROTOCOL.md, section 23).
public struct KeyProof: Sendable {
    /// Bytes of a proof.
    public static var byteCount: Int { 8 }

    let words: Words128

    init(_ words: Words128) { self.words = words }

    /// The proof of a key request: its sender knows the present key of the collar.
    public static func ofPresentKey(_ key: CollarKey, deviceID: UInt64) -> KeyProof {
        KeyProof(SealingKeys.derived(from: key, deviceID: deviceID, label: 0x6F_6C64, byteCount: 3))
    }

    /// The proof of a key activation: its sender knows the key that the collar offered.
    public static func ofNewKey(_ key: CollarKey, deviceID: UInt64) -> KeyProof {
        KeyProof(SealingKeys.derived(from: key, deviceID: deviceID, label: 0x6E_6577, byteCount: 3))
    }

    /// Whether two proofs are equal. The time does not depend on the proofs.
    public func isEqual(to other: KeyProof) -> Bool { words.isEqual(to: other.words, byteCount: KeyProof.byteCount) }
}
