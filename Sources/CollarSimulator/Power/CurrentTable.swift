import CheckedNumbers

/// The currents of the parts of a collar, and the properties of its cell: a table that a person can edit.
package struct CurrentTable: Equatable, Sendable {
    /// The rows that a table has.
    package enum Row: String, CaseIterable, Sendable {
        case gnssSearch = "gnss_search"
        case gnssTracking = "gnss_tracking"
        case gnssCyclic = "gnss_cyclic"
        case gnssBackup = "gnss_backup"
        case radioSend = "radio_send"
        case radioReceive = "radio_receive"
        case processorWithGNSS = "processor_with_gnss"
        case processorAwake = "processor_awake"
        case sleep = "sleep"
        case cellUsable = "cell_usable"
        case cellSelfDischarge = "cell_self_discharge"

        /// The unit of the value.
        package var unit: String {
            switch self {
            case .cellUsable: "%"
            case .cellSelfDischarge: "%/month"
            default: "mA"
            }
        }
    }

    private var values: [Row: Double] = [:]

    /// Reads a table: a line for each row, with its name, its value, its unit, and the source of the value. Empty lines, and what
    /// follows `#`, have no meaning.
    package init(_ text: String) throws(LineFault) {
        var lineCount = 0
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            lineCount = index + 1
            let words = line.prefix { $0 != "#" }.split(maxSplits: 3) { $0 == " " || $0 == "\t" }.map(String.init)
            guard let name = words.first else { continue }
            func fault(_ reason: String) -> LineFault { LineFault(line: lineCount, reason: reason) }
            guard let row = Row(rawValue: name) else { throw fault("has the unknown name '\(name)'") }
            guard values[row] == nil else { throw fault("gives \(name) a second time") }
            guard words.count == 4, words[2] == row.unit else {
                throw fault("is not `\(name) VALUE \(row.unit) SOURCE`")
            }
            guard let value = Double(words[1], in: row.unit == "mA" ? 0...10_000 : 0...100) else {
                throw fault("has the value '\(words[1])', which is no number of \(row.unit) in range")
            }
            values[row] = value
        }
        if let missing = Row.allCases.first(where: { values[$0] == nil }) {
            throw LineFault(line: lineCount, reason: "is the last, and \(missing.rawValue) is missing")
        }
    }

    /// The value of a row, in its unit.
    package subscript(row: Row) -> Double { values[row] ?? 0 }
}
