/// A family of metrics in Prometheus' sense: samples of one meaning, which differ in their labels.
package struct Metric: Hashable, Sendable {
    /// How the values change.
    package enum Kind: String, Sendable {
        /// The value only grows, or begins anew at 0.
        case counter
        /// Any value.
        case gauge
    }

    /// The name, with the unit at its end, without what all names begin with (``MetricsText/namePrefix``).
    package let name: String
    /// How the values change.
    package let kind: Kind
    /// The meaning, in one sentence.
    package let help: String
    /// How many of the digits of each value are decimal places.
    package let fractionDigits: Int

    /// Describes a family. The help must fit one line.
    package init(_ name: String, _ kind: Kind, fractionDigits: Int = 0, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.fractionDigits = fractionDigits
    }
}

/// Tells a sample of a family from the others.
package struct MetricLabel: Hashable, Sendable {
    /// The name: letters, digits and underscores.
    package let name: String
    /// The value: any text.
    package let value: String

    /// Creates a label.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
