/// A value of a fix that the protocol cannot carry.
public struct QuantizationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The JSON key of the field, with a dot before a nested part: `speed_mps`, `coordinate.latitude`.
    public let field: String
    /// The value of the field, in the unit of that key.
    public let value: String
    /// The values that can be carried, in the same unit.
    public let range: String

    package init(field: String, value: String, range: String) {
        self.field = field
        self.value = value
        self.range = range
    }

    /// The error in one sentence: "speed_mps: 200000 is outside 0…104857.5".
    public var description: String { "\(field): \(value) is outside \(range)" }
}
