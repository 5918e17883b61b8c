import CollarFormats
import SerialDevices

/// Whether the keys of collars can be read by their owner, and by nobody else. The keys themselves are not read.
package enum KeyCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let folder = "\(examination.stateDirectory)/keys"
        return machine.names(in: folder).filter { CollarID.deviceID($0) != nil }.compactMap { name in
            let path = "\(folder)/\(name)"
            guard let status = machine.status(of: path) else { return nil }
            let evidence = [
                Finding.Evidence(path, "mode \(String(status.mode, radix: 8)), owner \(machine.name(ofUser: status.ownerID))")
            ]
            if name != name.lowercased() { return .keyMisnamed(path, inFolder: folder, name: name, evidence: evidence) }
            if status.mode & 0o077 != 0 { return .keyExposed(path, collar: name, evidence: evidence) }
            guard !machine.mayAccess(path, "r") else { return nil }
            return .keyUnreadable(path, user: examination.user.name, evidence: evidence, sudo: examination.sudo)
        }
    }
}
