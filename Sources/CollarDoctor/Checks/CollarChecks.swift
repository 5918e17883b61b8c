import CollarErrors
import SerialDevices

extension Examination {
    /// Whether the file of the collar that this machine is can be used, stays, and is closed to others.
    var collarFindings: [Finding] {
        guard let path = collarFile else { return [] }
        guard let status = machine.status(of: path) else {
            return [Finding(
                .collarUnusable, "There is no collar at \(path).", evidence: [Evidence(path, "missing")],
                remedy: "`collar-link collar` makes one, with `--key-file FILE` for its key.")]
        }
        guard status.kind == .regularFile else {
            return [Finding(
                .collarUnusable, "\(path) is no file.", evidence: [Evidence(path, "\(status.kind)")],
                remedy: "Name the file of `collar-link collar --flash`.")]
        }
        return unwritableCollar(path, status) + openCollar(path, status) + volatileCollar(path)
    }

    private func unwritableCollar(_ path: String, _ status: FileStatus) -> [Finding] {
        if machine.space(at: path)?.isReadOnly == true {
            let mount = mount(of: path)
            return [Finding(
                .collarUnusable, "The disk of \(path) is mounted read-only: nothing can be logged.",
                evidence: [Evidence(mount?.path ?? path, "read-only")], command: sudo("mount", "-o", "remount,rw", mount?.path ?? "/"),
                remedy: "A disk that became read-only by itself fails: look at `sudo dmesg` first.")]
        }
        guard !machine.mayAccess(path, "rw") else { return [] }
        return [Finding(
            .collarUnusable, "\(user.name) may not write to \(path).", evidence: [Evidence(path, modeAndOwner(status))],
            command: sudo("chown", user.name, path).then(sudo("chmod", "600", path)))]
    }

    private func openCollar(_ path: String, _ status: FileStatus) -> [Finding] {
        guard status.mode & 0o066 != 0 else { return [] }
        return [Finding(
            .keyExposed,
            status.mode & 0o044 == 0
                ? "Other users can change the collar \(path)."
                : "Other users can read \(path), and in it the key and the positions of the collar.",
            evidence: [Evidence(path, modeAndOwner(status))], command: ShellCommand("chmod", "600", path),
            remedy: "If somebody may have done so, give the collar another key: `collar-link key exchange --port PATH`.")]
    }

    private func volatileCollar(_ path: String) -> [Finding] {
        guard let mount = mount(of: path), mount.isVolatile else { return [] }
        return [Finding(
            .stateVolatile, "The collar \(path) is in memory, or in a container, and is lost with it.",
            evidence: [Evidence("/proc/self/mountinfo", "\(mount.path) is \(mount.fileSystem)")],
            remedy: "Stop the collar, move the file to a disk, and start the collar with it.")]
    }
}
