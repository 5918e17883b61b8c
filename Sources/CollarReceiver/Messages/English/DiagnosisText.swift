extension Diagnosis {
    /// The diagnosis for a person, as lines without line feeds: the findings with their numbers, or one line if there is nothing to do.
    package var text: [String] {
        let findings = zip(1..., self.findings).flatMap { $1.text(number: $0) }
        return findings + [summary]
    }

    private var summary: String {
        let rest = unexamined.isEmpty ? "" : " (not examined, because this user may not: \(unexamined.joined(separator: ", ")))"
        let (errors, warnings) = (errorCount, count(of: .warning))
        guard errors + warnings > 0 else {
            return "nothing to do" + (ports.isEmpty ? "" : ": \(ports.joined(separator: ", ")) can be used") + rest
        }
        let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
        let request = errors + warnings == 1 ? "fix it" : "fix them in this order"
        return "\(counts.joined(separator: ", ")): \(request), and run 'collar-link doctor' again" + rest
    }
}

extension Finding {
    fileprivate func text(number: Int) -> [String] {
        var lines = ["\(number). \(code.severity.rawValue): \(reason) [\(code.rawValue)]"]
        lines += evidence.map { "   seen:    \($0.place): \($0.value)" }
        if let command { lines.append("   fix:     \(command)") }
        if let remedy { lines.append("   \(command == nil ? "fix:" : "note:")    ".padded(to: 12) + remedy) }
        return lines
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String { prefix(count) + String(repeating: " ", count: max(0, count - self.count)) }
}
