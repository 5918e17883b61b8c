import CollarJournal

/// The collars with something to commit, in the order in which that came up: so they take turns.
final class CommitQueue {
    private var waiting: [SessionID] = []
    private var first = 0

    /// Whether no collar waits.
    var isEmpty: Bool { first == waiting.count }

    /// Adds a collar, which must not wait already.
    func add(_ session: SessionID) { waiting.append(session) }

    /// Takes the collar that waits longest; nil if none waits.
    func next() -> SessionID? {
        guard first < waiting.count else { return nil }
        defer { compact() }
        return waiting[first]
    }

    private func compact() {
        first += 1
        // A collar that is added again and again while others wait must not let the array grow.
        guard first == waiting.count || first >= 256 else { return }
        waiting.removeFirst(first)
        first = 0
    }
}
