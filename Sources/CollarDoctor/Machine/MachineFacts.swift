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

/// What the reading of a file gives.
package enum FileContent: Equatable, Sendable {
    /// The content.
    case bytes([UInt8])
    /// There is no such file.
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
    /// The version of the program.
    case version
    /// The path of the state directory.
    case stateDirectory
    /// The paths of the configuration files, one a line, those that go before others first.
    case configurationFiles
    /// The paths of the ports that the user named, one a line.
    case namedPorts
    /// The radio options of the command line, one a line: `region EU868`.
    case radioOptions
    /// What the running receiver of the state directory says: its line of figures, or a word for why there is none.
    case receiver
    /// A variable of the environment.
    case environment(String)
    /// The kind, permissions, owner, group, device number and time of change of a file, symbolic links followed:
    /// `c 660 0 20 188:0 1764000000`.
    case status(String)
    /// What the user may do with a file: the letters `r`, `w`, `x` that apply.
    case access(String)
    /// The room on the disk of a file: free bytes, free files and `ro` or `rw`.
    case space(String)
    /// A process that has a device node open: `812 ModemManager`.
    case holder(String)
    /// The id of a process of this name.
    case process(String)
    /// The name of a user.
    case userName(UInt32)
    /// The name of a group.
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
