import CollarErrors

/// How a message names a collar.
package func collarName(_ deviceID: UInt64) -> String { "collar \(MessageDescription.hexadecimal(deviceID))" }

/// A receiver in a message: its id as `collar-link receiver show` prints it.
package func receiverName(_ receiverID: UInt32) -> String { MessageDescription.hexadecimal(UInt64(receiverID), digits: 8) }

extension ShellCommand {
    /// `collar-link send` with a request to one collar.
    package static func send(_ words: String..., to deviceID: UInt64) -> ShellCommand {
        ShellCommand(words: ["collar-link", "send"] + words + ["--collar", MessageDescription.hexadecimal(deviceID)])
    }
}
