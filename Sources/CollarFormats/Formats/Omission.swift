/// Fixes that are left out, because the format of the output cannot express them.
package struct Omission: Equatable, Sendable {
    /// The format.
    package var format: OutputFormat
    /// How many fixes were left out; nil where the first one is announced.
    package var fixCount: Int?

    /// Creates a value.
    package init(_ format: OutputFormat, fixCount: Int?) {
        self.format = format
        self.fixCount = fixCount
    }
}

/// Counts the fixes that are left out. A person is told of the first one as it happens, and of the number at the end.
package struct OmissionCount {
    private let format: OutputFormat
    private var isAnnounced = false
    /// How many fixes were left out.
    package private(set) var fixCount = 0

    /// Begins to count.
    package init(_ format: OutputFormat) { self.format = format }

    /// Adds fixes that were left out.
    package mutating func add(_ count: Int) { fixCount += count }

    /// The announcement after the first fix; nil at any other time.
    package mutating func takeFirst() -> Omission? {
        guard fixCount > 0, !isAnnounced else { return nil }
        isAnnounced = true
        return Omission(format, fixCount: nil)
    }

    /// The fixes that were left out; nil if none were.
    package var total: Omission? { fixCount > 0 ? Omission(format, fixCount: fixCount) : nil }
}
