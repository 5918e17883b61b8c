import CollarFormats

/// A family of metrics in Prometheus' sense: samples of one meaning, which differ in their labels.
package struct Metric: Hashable, Sendable {
    /// How the values change.
    package enum Kind: String, Sendable {
        /// The value only grows, or starts again at 0.
        case counter
        /// Any value.
        case gauge
    }

    /// The name, with the unit at its end, without what all names begin with (``MetricsText/namePrefix``).
    package let name: String
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

/// Metrics in the text format of Prometheus, version 0.0.4.
package struct MetricsText {
    /// The start of the name of every family.
    package static let namePrefix = "collar_link_"

    private var families: [(metric: Metric, samples: [UInt8])] = []
    /// Indices in `families`, by name.
    private var places: [String: Int] = [:]

    package init() {}

    /// Adds a sample to its family. A sample whose value is nil is left out.
    /// - Parameters:
    ///   - value: the value, times 10 to the power of ``Metric/fractionDigits``.
    ///   - labels: what tells the sample from the others; names of letters, digits and underscores, and any texts.
    package mutating func add(_ metric: Metric, _ value: Int64?, _ labels: [(name: String, value: String)] = []) {
        guard let value else { return }
        let place = places[metric.name] ?? families.count
        if place == families.count {
            places[metric.name] = place
            families.append((metric, []))
        }
        families[place].samples += "\(MetricsText.namePrefix)\(metric.name)".utf8
        if !labels.isEmpty {
            for (index, label) in labels.enumerated() {
                families[place].samples += "\(index == 0 ? "{" : ",")\(label.name)=".utf8
                families[place].samples.append(quotedLabel: label.value)
            }
            families[place].samples += "}".utf8
        }
        families[place].samples += " \(MessageDescription.decimal(value, metric.fractionDigits))\n".utf8
    }

    /// The text: each family with its help and type, in the order in which their first samples were added.
    package var bytes: [UInt8] {
        families.reduce(into: []) { bytes, family in
            let name = MetricsText.namePrefix + family.metric.name
            bytes += "# HELP \(name) \(family.metric.help)\n# TYPE \(name) \(family.metric.kind.rawValue)\n".utf8
            bytes += family.samples
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(quotedLabel text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): self += "\\n".utf8
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
