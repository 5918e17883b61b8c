import Glibc

/// Where the control socket of a state directory lies: one socket a state directory, by whatever name it is called.
enum ControlPlace {
    /// The paths where it may be, the preferred one first.
    /// - Parameters:
    ///   - stateDirectory: must exist; else there is none.
    ///   - runtimeDirectory: `XDG_RUNTIME_DIR`; nil where that is not set.
    static func candidates(stateDirectory: String, runtimeDirectory: String?) -> [String] {
        guard let state = status(of: stateDirectory) else { return [] }
        let name = "\(hexadecimal(UInt64(state.st_dev)))-\(hexadecimal(UInt64(state.st_ino))).sock"
        var folders: [String] = []
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/") { folders.append(runtimeDirectory) }
        let ofOwner = "/run/user/\(state.st_uid)"
        if !folders.contains(ofOwner) { folders.append(ofOwner) }
        return folders.map { "\($0)/collar-link/\(name)" } + ["\(stateDirectory)/control.sock"]
    }

    /// Makes the folder of a candidate, where nobody else can put anything.
    /// - Returns: whether it is there and this user's own.
    static func prepareFolder(of path: String) -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return true }
        let folder = String(path[..<slash])
        if folder.hasSuffix("/collar-link") {
            let parent = String(folder.dropLast("/collar-link".count))
            guard isOwn(parent) else { return false }
            _ = unsafe mkdir(folder, 0o700)
        }
        return isOwn(folder)
    }

    private static func isOwn(_ folder: String) -> Bool {
        guard let found = status(of: folder) else { return false }
        return found.st_uid == geteuid() && found.st_mode & S_IFMT == S_IFDIR
    }

    private static func status(of path: String) -> stat? {
        var found = stat()
        return unsafe stat(path, &found) == 0 ? found : nil
    }
}
