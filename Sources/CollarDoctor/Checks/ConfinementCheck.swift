import SerialDevices

/// Whether Snap or AppArmor keeps the program from its ports and files.
package enum ConfinementCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let place = "/proc/self/attr/current"
        let profile = examination.machine.firstLine(of: place) ?? ""
        if let snap = examination.machine.text(of: .environment("SNAP_NAME")), profile.hasPrefix("snap.") {
            return [.confined(bySnap: snap, evidence: Finding.Evidence(place, profile), sudo: examination.sudo)]
        }
        guard let log = examination.kernelLog else { return [] }
        let denial = log.recent(uptime: examination.uptimeSeconds).last {
            $0.text.contains(#"apparmor="DENIED""#) && $0.text.contains(#"comm="collar-link""#)
        }
        return denial.map { [.confined(byDenial: $0.text, log: log.path, sudo: examination.sudo)] } ?? []
    }
}
