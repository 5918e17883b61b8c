import CollarJournal
import CollarWire

/// The newest fixes of one log, which live fixes may be coded against. Bounded; what is too old is forgotten, and a live
/// fix against it comes again in the absolute form.
struct AnchorCache {
    /// Live fixes lie at most 127 above an acknowledged fix; the rest is room for late ones.
    private static let capacity = 512

    private var fixes: [Fix?] = []

    /// The fix of this sequence, if it is still here.
    func fix(_ sequence: UInt32) -> Fix? {
        guard !fixes.isEmpty, let fix = fixes[Int(sequence) % AnchorCache.capacity], fix.sequence == sequence else {
            return nil
        }
        return fix
    }

    /// Keeps a fix in place of an older one.
    mutating func keep(_ fix: Fix) {
        if fixes.isEmpty { fixes = [Fix?](repeating: nil, count: AnchorCache.capacity) }
        let place = Int(fix.sequence) % AnchorCache.capacity
        if let there = fixes[place], there.sequence > fix.sequence { return }
        fixes[place] = fix
    }
}
