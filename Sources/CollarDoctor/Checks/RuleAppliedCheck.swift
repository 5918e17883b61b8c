import SerialDevices

/// Whether udev has applied the rules to what is plugged in.
package enum RuleAppliedCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        guard examination.isUdevRunning, examination.rules.rule != nil else { return [] }
        return examination.adapters.compactMap { adapter -> Finding? in
            let properties = examination.machine.udevProperties(of: adapter.port)
            guard properties["COLLAR_LINK"] != "1" else { return nil }
            if examination.rules.marks(adapter, among: examination.adapters), let marks = examination.rules.marks {
                return .ruleNotApplied(adapter, by: marks.path, sudo: examination.sudo)
            }
            guard adapter.port.hasCollarFirmware, let rule = examination.rules.rule else { return nil }
            return .ruleNotApplied(adapter, by: rule.path, sudo: examination.sudo)
        }
    }
}
