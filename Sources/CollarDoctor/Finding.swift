import CollarErrors

/// One thing that `doctor` finds on a machine, with what shows it and what to do about it.
package struct Finding: Equatable, Sendable {
    /// A fact that shows the fault.
    package struct Evidence: Equatable, Sendable {
        /// The file, or the name of the fact.
        package let place: String
        /// What was found there.
        package let value: String

        package init(_ place: String, _ value: String) {
            self.place = place
            self.value = value
        }
    }

    /// The kind of the finding.
    package let code: FindingCode
    /// The path of the port that is affected; nil if it is not about a port.
    package let port: String?
    /// What is wrong, in one sentence.
    package let reason: String
    /// The facts that show it.
    package let evidence: [Evidence]
    /// The command that fixes it; nil if no command can.
    package let command: ShellCommand?
    /// What else to do, or what to do if no command can fix it; nil if nothing.
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

/// What `doctor` finds, in the order in which it is to be fixed.
package struct Diagnosis: Equatable, Sendable {
    /// The findings.
    package let findings: [Finding]
    /// The paths of the ports that were examined.
    package let ports: [String]
    /// What this user could not examine, each in a few words.
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

    /// How many findings have a severity.
    package func count(of severity: ErrorCode.Severity) -> Int { findings.lazy.filter { $0.code.severity == severity }.count }
}
