/// Whether Windows has handed over a USB device to its subsystem for Linux, which has none by itself.
package enum WindowsCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let place = "/proc/sys/kernel/osrelease"
        guard let release = examination.machine.firstLine(of: place), release.lowercased().contains("microsoft"),
            examination.adapters.isEmpty, !examination.hasNamedPorts
        else { return [] }
        return [.noUSBInWindows(evidence: Finding.Evidence(place, release))]
    }
}
