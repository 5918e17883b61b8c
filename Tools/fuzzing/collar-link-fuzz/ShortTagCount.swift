import Foundation
import FuzzCore

/// Counts frames with random tags that open in a codec that compares 12 bits of a tag. This shows that the tags are
/// compared, and that a forger can do no better than guess them.
struct ShortTagCount {
    /// Bits that tags-of-12-bits.patch leaves to compare.
    private static let tagBitCount = 12
    /// The most standard deviations between the count and its expectation.
    private static let tolerance = 3.0

    let tries: UInt64
    let seed: UInt64

    /// - Returns: whether a count is too far from its expectation.
    func run() -> Bool {
        var isWrong = false
        print(ShortTagCount.line("random tags", ["tries", "opened", "expected", "sigma", "deviation"]))
        let kinds = RandomTags.Kind.allCases
        for kind in kinds {
            let share = tries / UInt64(kinds.count)
            let opened = RandomTags(seed: seed).countOpened(of: kind, tries: share)
            let probability = exp2(-Double(kind.guessedBits(ofTag: ShortTagCount.tagBitCount)))
            let expected = Double(share) * probability
            let sigma = (expected * (1 - probability)).squareRoot()
            let deviation = (Double(opened) - expected) / sigma
            let numbers = [expected, sigma, deviation].map { String(format: "%.2f", $0) }
            print(ShortTagCount.line(kind.name, ["\(share)", "\(opened)"] + numbers))
            if abs(deviation) > ShortTagCount.tolerance {
                print("FOUND \(kind.name): \(opened) random tags opened, which is not within 3 sigma of \(numbers[0])")
                isWrong = true
            }
        }
        return isWrong
    }

    private static func line(_ name: String, _ columns: [String]) -> String {
        Table.pad(name, 20) + columns.map { Table.right($0, 12) }.joined()
    }
}
