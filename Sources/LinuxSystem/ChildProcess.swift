import CLinux
import Glibc

package final class ChildProcess {
    private let process: pid_t
    private let hasGroup: Bool
    private var isEnded = false
    /// The file that takes its stdout; nil if stderr does.
    private let outputFile: Int32?

    /// Starts a program, which is looked for in `PATH`. No signal is blocked in it, and stderr takes both of its outputs.
    /// - Parameters:
    ///   - command: the program and its arguments; not empty.
    ///   - input: all that it reads from stdin.
    ///   - hasGroup: whether it and the programs that it starts are a process group of their own, which gets the signals.
    ///   - keepsOutput: whether ``output`` takes its stdout.
    package init(_ command: [String], input: [UInt8], hasGroup: Bool = false, keepsOutput: Bool = false) throws(SystemError) {
        self.hasGroup = hasGroup
        let file = unsafe input.withUnsafeBytes { unsafe unnamed_file_create($0.baseAddress, $0.count) }
        guard file >= 0 else { throw SystemError(operation: "memfd_create", errno: errno) }
        defer { close(file) }
        let output = keepsOutput ? unnamed_file_create(nil, 0) : STDERR_FILENO
        guard output >= 0 else { throw SystemError(operation: "memfd_create", errno: errno) }
        outputFile = keepsOutput ? output : nil
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for unsafe argument in unsafe arguments { unsafe free(argument) } }
        var process: pid_t = 0
        let failure = unsafe child_start(&arguments, file, output, hasGroup, &process)
        guard failure == 0 else {
            if let outputFile { close(outputFile) }
            throw SystemError(operation: "posix_spawn", errno: failure)
        }
        self.process = process
    }

    deinit { if let outputFile { close(outputFile) } }

    /// The output of the program so far, if it is kept; at most 64 KiB.
    package var output: [UInt8] {
        guard let outputFile, lseek(outputFile, 0, SEEK_SET) == 0 else { return [] }
        return SystemFiles.read(from: outputFile) ?? []
    }

    /// How the program ended; nil while it runs.
    package func end(waits: Bool) -> CommandEnd? {
        var status: Int32 = 0
        let found = uninterrupted { unsafe waitpid(process, &status, waits ? 0 : WNOHANG) }
        if found == 0 { return nil }
        guard found == process else { return .notStarted(errorNumber: errno) }
        isEnded = true
        return status & 0x7F == 0 ? .exitCode(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }

    /// Sends a signal to the program, and to those of its group, if it still runs.
    package func send(signal: Int32) { if !isEnded { kill(hasGroup ? -process : process, signal) } }

    /// Runs a program to its end, with an empty stdin, and this program's stderr for both of its outputs.
    /// - Returns: its exit code; nil if it cannot be started, or a signal ended it.
    package static func exitCode(of command: [String]) -> Int32? {
        if case .exitCode(let code)? = try? ChildProcess(command, input: []).end(waits: true) { code } else { nil }
    }
}

/// How a command ended that did not succeed.
package enum CommandEnd: Equatable, Sendable {
    /// With an exit code other than 0.
    case exitCode(Int32)
    case signal(Int32)
    /// It could not be started. The value is `errno`.
    case notStarted(errorNumber: Int32)
}
