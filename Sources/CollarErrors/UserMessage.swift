import Glibc

/// A message to a person: an event, and a remedy.
package struct UserMessage: Equatable, Sendable {
    /// The code of the error, for programs; nil if the message reports no error.
    package var code: ErrorCode?
    /// What happened, in whole sentences.
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

    /// A message without a code, or one whose code is added later.
    package init(_ reason: String, _ remedy: String? = nil) { self.init(nil, reason, remedy) }

    /// - Parameter remedy: the step, from the command as it stands in a sentence.
    package init(_ code: ErrorCode?, _ reason: String, running command: ShellCommand, _ remedy: (String) -> String) {
        self.init(code, reason, remedy("`\(command.text)`"), command: command)
    }

    package init(_ reason: String, running command: ShellCommand, _ remedy: (String) -> String) {
        self.init(nil, reason, running: command, remedy)
    }

    /// A message that reports a consequence, with the reason and the remedy of this message.
    /// - Parameter consequence: a sentence without its full stop.
    package func about(_ consequence: String, _ code: ErrorCode? = nil) -> UserMessage {
        UserMessage(code, "\(consequence), because \(reason.asClause)", remedy, command: command)
    }

    /// The failure of a system call, as `text` tells it in a sentence.
    package init(errorNumber: Int32, text: String) {
        let code: ErrorCode =
            switch errorNumber {
            case EACCES, EPERM: .permissionDenied
            case EBUSY: .deviceInUse
            case ENODEV, ENXIO: .noDevice
            case ENOSPC, EDQUOT, EROFS, EFBIG: .storageFailing
            case ETIMEDOUT: .sessionTimeout
            default: .unknown
            }
        self.init(code, text)
    }
}

extension String {
    /// The sentence inside of a longer one: without the capital of a word that has no other one. A value at its start stays as it is.
    package var asClause: String {
        dropFirst().first.map { $0.isLowercase || $0 == " " } == true ? prefix(1).lowercased() + dropFirst() : self
    }
}

package protocol MessageError: Error {
    var message: UserMessage { get }
}

/// A command that a person types into a shell, held as its words. Each word is quoted when the command is printed, so that nothing
/// that others wrote (a path, the name of a process, a serial number) can become a command.
package struct ShellCommand: Equatable, Sendable {
    private enum Part: Equatable, Sendable {
        case word(String)
        case syntax(String)
    }

    private var parts: [Part]

    package init(_ words: String...) { self.init(words: words) }

    package init(words: [String]) { parts = words.map { .word($0) } }

    /// Text that the shell interprets. As a literal, it has nothing that others wrote.
    package init(syntax text: StaticString) { parts = [.syntax("\(text)")] }

    package func with(_ words: String...) -> ShellCommand { joined(nil, ShellCommand(words: words)) }

    package func with(syntax text: StaticString) -> ShellCommand { joined(nil, ShellCommand(syntax: text)) }

    package func then(_ next: ShellCommand) -> ShellCommand { joined("&&", next) }

    package func piped(to next: ShellCommand) -> ShellCommand { joined("|", next) }

    package func writing(to path: String) -> ShellCommand { joined(">", ShellCommand(path)) }

    private func joined(_ syntax: String?, _ other: ShellCommand) -> ShellCommand {
        var result = self
        if let syntax { result.parts.append(.syntax(syntax)) }
        result.parts += other.parts
        return result
    }

    package var text: String {
        parts.map { part in
            switch part {
            case .word(let word): ShellCommand.quoted(word)
            case .syntax(let text): text
            }
        }.joined(separator: " ")
    }

    private static let plainBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:=@%,".utf8)

    /// Whether a word has no character that means something to a shell or a terminal.
    package static func isPlain(_ word: String) -> Bool { !word.isEmpty && word.utf8.allSatisfy(plainBytes.contains) }

    private static func quoted(_ word: String) -> String {
        if isPlain(word) { return word }
        guard word.unicodeScalars.contains(where: \.controlsText) else {
            return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
        }
        // What controls a terminal must not be printed as it is.
        let bytes = word.utf8.map { byte in
            plainBytes.contains(byte) ? String(Unicode.Scalar(byte)) : #"\x"# + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return "$'" + bytes.joined() + "'"
    }
}

/// The start of a command that only root may carry out.
package struct RootPrefix: Equatable, Sendable {
    /// Whether the user is not root.
    package let isNeeded: Bool

    package init(isNeeded: Bool) { self.isNeeded = isNeeded }

    package func callAsFunction(_ words: String...) -> ShellCommand { self(words: words) }

    package func callAsFunction(words: [String]) -> ShellCommand { ShellCommand(words: (isNeeded ? ["sudo"] : []) + words) }
}
