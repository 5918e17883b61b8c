/// A message to a person: an event, and a remedy.
package struct UserMessage: Equatable, Sendable {
    /// The code of the error, for programs; nil if the message reports no error.
    package var code: ErrorCode?
    /// What happened, in one sentence.
    package var reason: String
    /// A step that the person can take, with the command for it if one exists; nil if no step is known.
    package var remedy: String?
    /// The command in the remedy; nil if it has none, or none that is complete.
    package var command: ShellCommand?

    package init(_ code: ErrorCode?, _ reason: String, _ remedy: String? = nil, command: ShellCommand? = nil) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
        self.command = command
    }

    /// - Parameter remedy: the step, from the command as it stands in a sentence.
    package init(_ code: ErrorCode?, _ reason: String, running command: ShellCommand, _ remedy: (String) -> String) {
        self.init(code, reason, remedy("`\(command.text)`"), command: command)
    }
}

extension UserMessage {
    /// A message that reports a consequence, with the reason and the remedy of this message.
    package func about(_ consequence: String, _ code: ErrorCode?) -> UserMessage {
        UserMessage(code, "\(consequence): \(reason)", remedy, command: command)
    }
}
