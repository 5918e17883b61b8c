import CollarErrors
import CollarFormats

/// A fault that `doctor` finds on a machine, with the facts that show it and the remedy.
package struct Finding: Equatable, Sendable {
    /// A fact that shows the fault.
    package struct Evidence: Equatable, Sendable {
        /// The file, or the name of the fact.
        package let place: String
        /// Its content, or its value.
        package let value: String

        package init(_ place: String, _ value: String) {
            self.place = place
            self.value = value
        }
    }

    package let code: FindingCode
    /// The path of the port that is affected; nil if it is not about a port.
    package let port: String?
    /// The fault, in one sentence.
    package let reason: String
    package let evidence: [Evidence]
    /// The command that fixes it; nil if no command can.
    package let command: ShellCommand?
    /// A sentence on what to do besides the command, or without one; nil if there is nothing.
    package let remedy: String?

    package init(
        _ code: FindingCode, port: String? = nil, _ reason: String, evidence: [Evidence], command: ShellCommand? = nil,
        remedy: String? = nil
    ) {
        self.code = code
        self.port = port
        self.reason = reason
        self.evidence = evidence
        self.command = command
        self.remedy = remedy
    }
}

/// All that `doctor` finds, in the order in which it is fixed.
package struct Diagnosis: Equatable, Sendable {
    package let findings: [Finding]
    package let ports: [String]
    /// Places that this user could not examine, each in a few words.
    package let unexamined: [String]
    /// The version of the program, and the kernel's.
    package let version: String
    /// The release of the kernel; nil if it is not known.
    package let kernel: String?

    /// 0 if there is nothing to do, 1 if there are only warnings, else the code of the first error.
    package var exitCode: ExitCode {
        if let error = findings.first(where: { $0.code.severity == .error || $0.code.severity == .critical }) {
            return error.code.exitCode
        }
        return count(of: .warning) > 0 ? .warnings : .clean
    }

    package func count(of severity: ErrorCode.Severity) -> Int { findings.lazy.filter { $0.code.severity == severity }.count }
}

extension Finding {
    /// The line of JSON, as `Protocol/schema/finding.schema.json` describes it.
    package var line: [UInt8] {
        var object = JSONLine(type: "finding")
        object.add("code", code.rawValue)
        object.add("severity", code.severity.rawValue)
        if let port { object.add("port", port) }
        object.add("reason", reason)
        object.add("evidence", evidence.map { evidence in
            var object = JSONLine()
            object.add("place", evidence.place)
            object.add("value", evidence.value)
            return object
        })
        object.add("command", command?.text)
        object.add("remedy", remedy)
        return object.line
    }
}

extension Diagnosis {
    /// The line of JSON that follows the findings, as `Protocol/schema/diagnosis.schema.json` describes it.
    package var line: [UInt8] {
        var object = JSONLine(type: "diagnosis")
        object.add("exit", exitCode.rawValue)
        object.add("errors", errorCount)
        object.add("warnings", count(of: .warning))
        object.add("infos", count(of: .info))
        object.add("ports", ports)
        object.add("unexamined", unexamined)
        object.add("version", version)
        object.add("kernel", kernel)
        return object.line
    }

    /// How many findings are errors, critical or not.
    package var errorCount: Int { count(of: .error) + count(of: .critical) }

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
        if let remedy { lines.append((command == nil ? "   fix:     " : "   note:    ") + remedy) }
        return ("\(number). \(code.severity.rawValue): \(reason) [\(code.rawValue)]", lines)
    }
}
