import Glibc
import LinuxSystem

/// Where the programs of a user find their files (XDG Base Directory Specification 0.8).
package enum StandardPaths {
    /// A directory that a variable of the environment has named.
    package struct Directory: Equatable, Sendable {
        /// The name of the variable.
        package let variable: String
        /// The value of the variable: an absolute path.
        package let base: String
        package let path: String
    }

    /// The state directory of a receiver that runs as a service.
    package static let serviceStateDirectory = "/var/lib/collar-link"

    /// The state directory of this user; nil if neither XDG_STATE_HOME nor HOME is set.
    package static var userStateDirectory: Directory? { directory([("XDG_STATE_HOME", ""), ("HOME", "/.local/state")], "") }

    /// The state directory for a program that reads it: the user's own, or the service's if only that exists.
    package static func readableStateDirectory(own: String) -> String {
        SystemFiles.isDirectory(own) || !SystemFiles.isDirectory(serviceStateDirectory) ? own : serviceStateDirectory
    }

    /// The paths of the files with a name: the user's before the machine's.
    package static func configurationFiles(named name: String) -> [String] {
        [userConfigurationFile(named: name)].compactMap(\.self) + ["/etc/collar-link/\(name)"]
    }

    /// The path of the user's file with a name; nil if the user has no directory for it.
    package static func userConfigurationFile(named name: String) -> String? {
        directory([("XDG_CONFIG_HOME", ""), ("HOME", "/.config")], "/\(name)")?.path
    }

    private static func directory(_ variables: [(name: String, folder: String)], _ rest: String) -> Directory? {
        variables.lazy.compactMap { variable, folder in
            Environment.value(variable).flatMap {
                $0.hasPrefix("/") ? Directory(variable: variable, base: $0, path: "\($0)\(folder)/collar-link\(rest)") : nil
            }
        }.first
    }
}
