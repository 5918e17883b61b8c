/// Which entries a consumer gets, and in which order.
package struct EntrySelection: Equatable, Sendable {
    /// Whether it gets fixes.
    package var hasFixes = true
    /// Whether it gets changes of gaps.
    package var hasGaps = false
    /// Whether it gets messages of the collars' applications.
    package var hasMessages = false
    /// Whether a fix is held back until all fixes before it in its log are emitted or will never come.
    package var isSorted = false
    /// Whether the consumer's position moves although it gets no fixes.
    package var movesWithoutFixes = false

    /// A selection of fixes alone, in the order of their arrival.
    package init() {}

    /// Whether it gets anything.
    package var isEmpty: Bool { !hasFixes && !hasGaps && !hasMessages }

    /// Whether an entry moves the consumer's position.
    package var movesPosition: Bool { hasFixes || movesWithoutFixes }
}
