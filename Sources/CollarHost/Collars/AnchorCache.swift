import CollarJournal
import CollarWire

/// The newest fixes of one log, against which live fixes may be coded. Their number is limited: a live fix whose anchor was
/// dropped comes again in the absolute form.
struct AnchorCache {
    /// A live fix is at most 127 sequences above its anchor, which is an acknowledged fix. The rest of the capacity keeps the
    /// anchors of live fixes that come late.
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
