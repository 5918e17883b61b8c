/// The error for a line of a track that does not contain a valid fix, with the reason.
public struct TrackLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Number of the line, from 1.
    public let lineNumber: Int
    /// The JSON key at fault, with a dot before a nested part; nil when the line is not a JSON object.
    public let field: String?
    /// Byte offset at which the line stops being JSON; nil when the line is valid JSON.
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

    /// The error in one line: `line 7: coordinate.latitude: 95.2 is outside -90…90`.
    public var description: String {
        if let field { return "line \(lineNumber): \(field): \(problem)" }
        if let byteOffset { return "line \(lineNumber): not JSON: \(problem) (byte offset \(byteOffset))" }
        return "line \(lineNumber): \(problem)"
    }
}
