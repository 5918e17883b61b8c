/// Counts of pairs of different frames that hosts made for one poll under one receiver id and one key: one host is a copy of the
/// other, or an earlier state of it. The nonces of such frames differ in the salt alone. It has 24 bits and comes from the content,
/// so it is equal for as many pairs as chance makes it.
package struct NonceStatistics: Equatable, Sendable {
    /// The pairs.
    package private(set) var pairs = 0
    /// The pairs with equal salts: these frames have the same nonce.
    package private(set) var equalSalts = 0
    /// The bytes of salts that are equal to the byte in the same place of the other salt. A pair has three.
    package private(set) var equalBytes = 0

    private static let saltByteCount = 3

    /// No pairs.
    package init() {}

    /// Adds a pair.
    mutating func add(_ first: [UInt8], _ second: [UInt8]) {
        precondition(first.count == NonceStatistics.saltByteCount && second.count == first.count, "a salt has three bytes")
        pairs += 1
        if first == second { equalSalts += 1 }
        equalBytes += zip(first, second).count { $0 == $1 }
    }

    /// Adds the counts of another run.
    mutating func add(_ other: NonceStatistics) {
        pairs += other.pairs
        equalSalts += other.equalSalts
        equalBytes += other.equalBytes
    }

    /// Which count is not the one that chance allows, and what chance allows; nil if all are. Few pairs of a survey can show only that
    /// equal salts are not frequent. Their bytes, each of which is equal in 1 of 256 pairs, show more.
    package var deviation: String? {
        let bytes = Double(pairs * NonceStatistics.saltByteCount) / 0x1p8
        if !EventCount.isPlausible(equalBytes, expected: bytes) {
            return "\(equalBytes) bytes of the salts of \(pairs) pairs are equal, \(bytes) are expected"
        }
        let salts = Double(pairs) / 0x1p24
        guard !EventCount.isPlausible(equalSalts, expected: salts) else { return nil }
        return "\(equalSalts) of \(pairs) pairs have equal salts, \(salts) are expected"
    }
}
