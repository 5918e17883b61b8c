import CollarErrors
import CollarJournal
import SerialDevices

/// Whether what is received can be stored, and stays.
package enum StateDirectoryCheck {
    /// Free bytes below which nothing more may be stored soon, and those below which a person should know.
    private static let (fullByteCount, lowByteCount): (Int64, Int64) = (1 << 20, 64 << 20)
    /// Free files below which a person should know.
    private static let lowFileCount: Int64 = 64
    /// File systems that lose their files at a restart, and those of containers, which lose them with the container.
    private static let volatileFileSystems = ["tmpfs", "ramfs", "overlay", "aufs"]

    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let path = examination.stateDirectory
        let status = machine.status(of: path)
        // Of a directory that does not exist yet, the nearest directory above it counts.
        let place = status == nil ? existing(above: path, machine) : path
        let obstacle = retired(examination) ?? strangers(status, examination) ?? unwritable(place, examination)
        if let obstacle { return [obstacle] }
        return room(place, examination) + volatility(place, examination)
    }

    /// A receiver that was moved to another machine stores nothing here any more.
    private static func retired(_ examination: Examination) -> Finding? {
        let path = "\(examination.stateDirectory)/receiver"
        guard let text = examination.machine.firstLine(of: path), case .retired(let receiverID) = ReceiverFile.parse(text) else {
            return nil
        }
        return .stateUnusable(
            JournalError.retired(receiverID: receiverID, path: path), evidence: [Finding.Evidence(path, text)], command: nil)
    }

    private static func strangers(_ status: FileStatus?, _ examination: Examination) -> Finding? {
        guard let status, status.kind == .directory else { return nil }
        let machine = examination.machine
        let path = examination.stateDirectory
        let user = examination.user.id
        let mode = String(status.mode, radix: 8)
        let evidence = [Finding.Evidence(path, "mode \(mode), owner \(machine.name(ofUser: status.ownerID))")]
        if status.ownerID != user, status.ownerID != 0, user != 0 {
            return .stateUnusable(
                JournalError.openToStrangers(.owner(status.ownerID), path: path), evidence: evidence,
                command: ShellCommand("sudo", "-u", machine.name(ofUser: status.ownerID), "collar-link", "--state-dir", path))
        }
        guard status.mode & 0o022 != 0 else { return nil }
        return .stateUnusable(
            JournalError.openToStrangers(.others, path: path), evidence: evidence, command: ShellCommand("chmod", "go-w", path))
    }

    private static func unwritable(_ place: String, _ examination: Examination) -> Finding? {
        let machine = examination.machine
        let status = machine.status(of: place)
        if let status, status.kind != .directory { return .stateInTheWay(place) }
        if machine.space(at: place)?.isReadOnly == true {
            return .stateReadOnly(examination.stateDirectory, mount: mount(of: place, machine), sudo: examination.sudo)
        }
        guard !machine.mayAccess(place, "wx") else { return nil }
        let owner = status.map { "mode \(String($0.mode, radix: 8)), owner \(machine.name(ofUser: $0.ownerID))" }
        return .stateDenied(
            place, stateDirectory: examination.stateDirectory, user: examination.user.name,
            evidence: [Finding.Evidence(place, owner ?? "may not be entered")], sudo: examination.sudo)
    }

    private static func room(_ place: String, _ examination: Examination) -> [Finding] {
        guard let space = examination.machine.space(at: place) else { return [] }
        if space.freeByteCount < fullByteCount || space.freeFileCount == 0 {
            return [.diskFull(place, space, mount: mount(of: place, examination.machine))]
        }
        let isLow = space.freeByteCount < lowByteCount || (space.freeFileCount ?? .max) < lowFileCount
        return isLow ? [.diskNearlyFull(place, space, mount: mount(of: place, examination.machine))] : []
    }

    private static func volatility(_ place: String, _ examination: Examination) -> [Finding] {
        guard let mount = mount(of: place, examination.machine), volatileFileSystems.contains(mount.fileSystem) else { return [] }
        return [.stateVolatile(examination.stateDirectory, mount, isContainer: examination.containerMark != nil)]
    }

    private static func existing(above path: String, _ machine: any MachineFacts) -> String {
        var place = path[...]
        while let slash = place.lastIndex(of: "/"), slash != place.startIndex {
            place = place[..<slash]
            if machine.status(of: String(place)) != nil { return String(place) }
        }
        return "/"
    }

    /// The mount to which a path belongs; nil if it is not known.
    private static func mount(of path: String, _ machine: any MachineFacts) -> Mount? {
        let resolved = machine.resolved(path)
        let mounts = (machine.contentText(of: "/proc/self/mountinfo") ?? "").split(separator: "\n").compactMap { Mount($0) }
        // Of two mounts at one path the later one is visible.
        return mounts.reversed().filter { $0.holds(resolved) }.max { $0.path.utf8.count < $1.path.utf8.count }
    }
}

/// A mounted file system, from a line of `/proc/self/mountinfo`.
package struct Mount: Equatable {
    /// Where it is mounted.
    package let path: String
    /// The kind of file system.
    package let fileSystem: String

    package init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count > 6, let mark = words.firstIndex(of: "-"), mark + 1 < words.count else { return nil }
        path = Mount.unescaped(words[4])
        fileSystem = String(words[mark + 1])
    }

    /// The kernel writes a space, a tab, a line feed and a backslash as a backslash and three octal digits.
    private static let escapes = ["040": " ", "011": "\t", "012": "\n", "134": "\\"]

    private static func unescaped(_ text: Substring) -> String {
        let pieces = text.split(separator: "\\", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(String(pieces[0])) { text, piece in
            guard let character = Mount.escapes[String(piece.prefix(3))] else { return text + "\\" + piece }
            return text + character + piece.dropFirst(3)
        }
    }

    package func holds(_ other: String) -> Bool { path == "/" || other == path || other.hasPrefix(path + "/") }
}
