import CheckedNumbers
import CollarPorts
import SerialDevices

/// The facts about a machine that `doctor` examines: of the machine on which the program runs, or of one that was recorded.
///
/// Nothing is written, and no device is opened. Paths are absolute, and their directories are free of symbolic links.
package protocol MachineFacts: AnyObject {
    /// The content of a file; of a long file, the end.
    func content(of path: String) -> FileContent
    /// The names in a directory, in their order; none if it cannot be read.
    func names(in directory: String) -> [String]
    /// The target of a symbolic link; nil if there is no link.
    func linkTarget(of path: String) -> String?
    /// A fact that is not in a file; nil if it is not known.
    func text(of fact: MachineFact) -> String?
}

package enum FileContent: Equatable, Sendable {
    case bytes([UInt8])
    case absent
    /// This user is not allowed to read the file, or the system fails to read it.
    case refused
}

/// A fact about a machine that is not in a file. Each is a text, in the form that its case names.
package enum MachineFact: Hashable, Sendable {
    /// The user of the process: `1000 alice`.
    case user
    /// The ids of the process's groups: `1000 20`.
    case groups
    /// The ids of the groups that a new session of the user would have.
    case sessionGroups
    /// The time, in milliseconds since 1970.
    case time
    case version
    case stateDirectory
    /// The paths of the configuration files, one a line; each overrides those after it.
    case configurationFiles
    /// The paths of the ports that the user named, one a line.
    case namedPorts
    /// The path of a collar's file, on a machine that is a collar.
    case collarFile
    /// The port of the GNSS receiver of such a machine.
    case receiverPort
    /// The radio options of the command line, one a line: `region EU868`.
    case radioOptions
    /// The answer of the running receiver of the state directory: its line of figures, or a word for why there is none.
    case receiver
    case environment(String)
    /// The kind, permissions, owner, group, device number and time of change of a file, symbolic links followed:
    /// `c 660 0 20 188:0 1764000000`.
    case status(String)
    /// The rights of the user at a file: the letters `r`, `w`, `x` that apply.
    case access(String)
    /// The room on the disk of a file: free bytes, free files and `ro` or `rw`.
    case space(String)
    /// A process that has a device node open: `812 ModemManager`.
    case holder(String)
    /// The id of a process of this name.
    case process(String)
    case userName(UInt32)
    case groupName(UInt32)

    /// The fact's name in a recorded machine.
    package var key: String {
        switch self {
        case .user: "user"
        case .groups: "groups"
        case .sessionGroups: "session-groups"
        case .time: "time"
        case .version: "version"
        case .stateDirectory: "state-directory"
        case .configurationFiles: "configuration-files"
        case .namedPorts: "named-ports"
        case .collarFile: "collar-file"
        case .receiverPort: "receiver-port"
        case .radioOptions: "radio-options"
        case .receiver: "receiver"
        case .environment(let name): "environment \(name)"
        case .status(let path): "status \(path)"
        case .access(let path): "access \(path)"
        case .space(let path): "space \(path)"
        case .holder(let path): "holder \(path)"
        case .process(let name): "process \(name)"
        case .userName(let id): "user-name \(id)"
        case .groupName(let id): "group-name \(id)"
        }
    }
}

package struct MachineUser: Equatable, Sendable {
    /// The user's id; 0 is root.
    package let id: UInt32
    package let name: String
    package let groups: [UInt32]
    /// The ids of the groups that a new session of the user would have.
    package let sessionGroups: [UInt32]
}

/// The kind, permissions and owner of a file.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Character, Sendable {
        case characterDevice = "c"
        case directory = "d"
        case regularFile = "f"
        case other = "o"
    }

    package let kind: Kind
    package let mode: UInt32
    package let ownerID: UInt32
    package let groupID: UInt32
    /// The numbers of a device, such as `188:0`; `0:0` for any other file.
    package let device: String
    /// The time of the last change of the content, in seconds since 1970.
    package let changedUnixSeconds: Int64

    /// Reads the text of ``MachineFact/status(_:)``.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, let kind = words[0].first.flatMap(Kind.init),
            let mode = UInt32(digits: words[1].utf8, radix: 8, in: 0 ... .max), let ownerID = UInt32(words[2], in: 0 ... .max),
            let groupID = UInt32(words[3], in: 0 ... .max), let changed = Int64(words[5], in: .unixSeconds)
        else { return nil }
        self.kind = kind
        self.mode = mode
        self.ownerID = ownerID
        self.groupID = groupID
        device = String(words[4])
        changedUnixSeconds = changed
    }
}

package struct DiskSpace: Equatable, Sendable {
    /// Bytes that the user may still store.
    package let freeByteCount: Int64
    /// Files that the user may still create; nil where the file system has no limit.
    package let freeFileCount: Int64?
    package let isReadOnly: Bool

    /// Reads the text of ``MachineFact/space(_:)``.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3, let bytes = Int64(words[0], in: 0 ... .max) else { return nil }
        freeByteCount = bytes
        freeFileCount = Int64(words[1], in: 0 ... .max)
        isReadOnly = words[2] == "ro"
    }
}

extension ProcessHolder {
    /// Reads the text of ``MachineFact/holder(_:)``.
    package init?(fact text: String) {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let processID = Int32(words[0], in: 1 ... .max) else { return nil }
        self.init(processID: processID, name: String(words[1]))
    }
}

/// Facts as values.
extension MachineFacts {
    /// The user; nobody without groups if the facts do not say.
    package var user: MachineUser {
        func ids(_ fact: MachineFact) -> [UInt32] { (text(of: fact) ?? "").split(separator: " ").compactMap { UInt32($0, in: 0 ... .max) } }
        let words = (text(of: .user) ?? "").split(separator: " ", maxSplits: 1)
        return MachineUser(
            id: words.first.flatMap { UInt32($0, in: 0 ... .max) } ?? 65_534, name: words.count > 1 ? String(words[1]) : "nobody",
            groups: ids(.groups), sessionGroups: ids(.sessionGroups))
    }

    /// The time, in milliseconds since 1970.
    package var unixMilliseconds: Int64 { text(of: .time).flatMap { Int64($0, in: .unixMilliseconds) } ?? 0 }

    /// The lines of a fact that has several.
    package func lines(of fact: MachineFact) -> [String] { (text(of: fact) ?? "").split(separator: "\n").map(String.init) }

    /// The kind, permissions and owner of a file; nil if there is none, or a directory of the path may not be entered.
    package func status(of path: String) -> FileStatus? { text(of: .status(path)).flatMap { FileStatus($0) } }

    /// Whether the user may do all of this with a file.
    /// - Parameter rights: letters of `r`, `w` and `x`.
    package func mayAccess(_ path: String, _ rights: String) -> Bool {
        let granted = text(of: .access(path)) ?? ""
        return rights.allSatisfy(granted.contains)
    }

    /// The room on the disk of a file; nil if it is not known.
    package func space(at path: String) -> DiskSpace? { text(of: .space(path)).flatMap { DiskSpace($0) } }

    /// A process that has a device node open; nil if none is visible.
    package func holder(of node: String) -> ProcessHolder? { text(of: .holder(node)).flatMap { ProcessHolder(fact: $0) } }

    /// The content of a file as text; nil if it cannot be read.
    package func contentText(of path: String) -> String? {
        if case .bytes(let bytes) = content(of: path) { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    /// The first line of a file; nil if it cannot be read.
    package func firstLine(of path: String) -> String? { contentText(of: path).map { String($0.prefix { $0 != "\n" }) } }

    /// The path without symbolic links. What does not exist stays as it is.
    package func resolved(_ path: String) -> String {
        /// The kernel has the same limit.
        let linkLimit = 40
        var done: [Substring] = []
        var pending = Array(path.split(separator: "/").reversed())
        var linkCount = 0
        while let name = pending.popLast() {
            if name == "." { continue }
            if name == ".." {
                _ = done.popLast()
                continue
            }
            let place = "/" + (done + [name]).joined(separator: "/")
            guard linkCount < linkLimit, let target = linkTarget(of: place) else {
                done.append(name)
                continue
            }
            linkCount += 1
            if target.hasPrefix("/") { done = [] }
            pending += target.split(separator: "/").reversed()
        }
        return "/" + done.joined(separator: "/")
    }
}
