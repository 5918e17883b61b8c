import CheckedNumbers
import SerialDevices

/// Whether the udev rule is installed, whole, and read at the right time. In a container the rules of the machine outside count.
package enum RuleCheck {
    /// The number of `73-seat-late.rules`, which acts on what the rule sets.
    private static let limit = 73

    package static func findings(_ examination: Examination) -> [Finding] {
        guard examination.containerMark == nil else { return [] }
        let rules = examination.rules
        guard let rule = rules.rule else { return [.ruleMissing(empty: rules.empty, sudo: examination.sudo)] }
        var findings: [Finding] = []
        let missing = rules.missingParts
        if !missing.isEmpty { findings.append(.ruleOutdated(path: rule.path, missing: missing, sudo: examination.sudo)) }
        if Int(rule.name.prefix { $0.isNumber }, in: 0...limit - 1) != nil { return findings }
        return findings + [.ruleMisplaced(path: rule.path, sudo: examination.sudo)]
    }
}
