import Glibc

/// A program that this one starts and waits for.
enum ChildProcess {
    /// Runs a program, which is looked for in `PATH`, with this program's stderr for both of its outputs.
    /// - Parameter command: the program and its arguments; not empty.
    /// - Returns: its exit code; nil if it cannot be started, or a signal ended it.
    static func exitCode(of command: [String]) -> Int32? {
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) == 0 else { return nil }
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for unsafe argument in unsafe arguments { unsafe free(argument) } }
        var process: pid_t = 0
        guard unsafe posix_spawnp(&process, command[0], &actions, nil, &arguments, environ) == 0 else { return nil }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return nil } }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }
}
