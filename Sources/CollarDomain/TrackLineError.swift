/// A line of a track that is not a fix, and why.
public struct TrackLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Number of the line, from 1.
    public let lineNumber: Int
    /// The JSON key at fault, with a dot before a nested part; nil when the line is not JSON at all.
    public let field: String?
    /// Bytes of the line before the place where it stops being JSON; nil when a field is at fault.
    public let byteOffset: Int?
    /// What is wrong, and what was expected.
    public let problem: String

    /// Creates an error.
    public init(lineNumber: Int, field: String?, byteOffset: Int?, problem: String) {
        self.lineNumber = lineNumber
        self.field = field
        self.byteOffset = byteOffset
        self.problem = problem
    }

    /// The whole in one line: `line 7: coordinate.latitude: 95.2 is outside -90…90`.
    public var description: String {
        if let field { return "line \(lineNumber): \(field): \(problem)" }
        if let byteOffset { return "line \(lineNumber): not JSON: \(problem) (byte offset \(byteOffset))" }
        return "line \(lineNumber): \(problem)"
    }
}
