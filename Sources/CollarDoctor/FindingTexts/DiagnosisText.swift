import CollarErrors

extension Diagnosis {
    /// A line of text, without a line feed. The first line of a finding has its severity.
    package typealias Line = (text: String, severity: ErrorCode.Severity?)

    /// The diagnosis for a person: the findings with their numbers, and one line at the end, or this line alone if there is nothing to
    /// do.
    package var text: [Line] {
        let findings = zip(1..., self.findings).flatMap { number, finding in
            let (first, rest) = finding.text(number: number)
            return [Line(first, finding.code.severity)] + rest.map { Line($0, nil) }
        }
        return findings + [Line(summary, nil)]
    }

    private var summary: String {
        let rest = unexamined.isEmpty ? "" : " (not examined, because this user may not: \(unexamined.joined(separator: ", ")))"
        let (errors, warnings) = (errorCount, count(of: .warning))
        guard errors + warnings > 0 else {
            return "nothing to do" + (ports.isEmpty ? "" : ": \(ports.joined(separator: ", ")) can be used") + rest
        }
        let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
        let request = errors + warnings == 1 ? "fix it" : "fix them in this order"
        return "\(counts.joined(separator: ", ")): \(request), and run `collar-link doctor` again" + rest
    }
}

extension Finding {
    fileprivate func text(number: Int) -> (first: String, rest: [String]) {
        var lines = evidence.map { "   seen:    \($0.place): \($0.value)" }
        if let command { lines.append("   fix:     \(command.text)") }
        if let remedy { lines.append("   \(command == nil ? "fix:" : "note:")    ".padded(to: 12) + remedy) }
        return ("\(number). \(code.severity.rawValue): \(reason) [\(code.rawValue)]", lines)
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String { prefix(count) + String(repeating: " ", count: max(0, count - self.count)) }
}
