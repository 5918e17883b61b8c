import CollarErrors
import CollarReceiver

/// The failure that ends a command: a message for a person, and a code for a script.
struct CommandFailure: Error {
    var code: ExitCode
    var message: String
    var remedy: String?
    /// Whether stdout cannot be written, so that nothing more can be printed.
    var isOutputLost = false

    /// Creates the failure for a message; the exit code follows from the message's error code.
    init(_ message: UserMessage) {
        self.init(message.code?.exitCode ?? .software, message.reason, remedy: message.remedy)
    }

    init(_ code: ExitCode, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// The failure of two options that exclude each other.
    /// - Parameter remedy: which of them to leave out.
    static func excluding(_ option: String, _ other: String, remedy: String) -> CommandFailure {
        CommandFailure(.usage, "\(option) and \(other) exclude each other", remedy: remedy)
    }

    /// Says the failure where a command goes on after it, and keeps the exit code of the first failure.
    func tell(_ code: inout ExitCode) {
        StandardError.say(message, remedy: remedy)
        if code == .clean { code = self.code }
    }
}
