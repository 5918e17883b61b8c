import CollarFormats

/// Reads fixes from lines of JSON. The lines are from another program's track, in the full or the compact flavour, or from
/// the output of `collar-link`.
public struct TrackLineReader: Sendable {
    /// Creates a reader, which keeps no state between lines.
    public init() {}

    /// Reads one line. It must contain the time `ts_unix_ms`, the position and, if `defaultSequence` is nil, the sequence
    /// `seq`. All other keys can be absent or null: such a `source` means `collar`, such an `id` is replaced by a random one,
    /// and any other such value is unknown. Keys that do not belong to a fix are ignored.
    ///
    /// ```swift
    /// let fix = try TrackLineReader().fix(
    ///     fromLine: #"{"ts_unix_ms":1699401234567,"lat":37.7749,"lon":-122.4194}"#.utf8, lineNumber: 1, defaultSequence: 0)
    /// ```
    /// - Parameters:
    ///   - line: the line, with or without its line terminator; it must not be blank.
    ///   - lineNumber: the number of the line in the file, from 1, for messages.
    ///   - defaultSequence: the sequence of a line that has none.
    /// - Throws: `TrackLineError` with the wrong field and the problem.
    public func fix(
        fromLine line: some Sequence<UInt8>, lineNumber: Int, defaultSequence: Int? = nil
    ) throws(TrackLineError) -> LocationFix {
        LocationFix(try TrackLine.values(of: line, lineNumber: lineNumber, defaultSequence: defaultSequence))
    }
}
