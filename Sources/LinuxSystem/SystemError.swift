import CollarErrors
import Glibc

package struct SystemError: Error, Equatable, Sendable {
    package let operation: String
    package let errno: Int32

    package init(operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno
    }

    /// The call and the error in words, for a message.
    package var text: String { "\(operation): \(SystemError.text(errno))" }

    /// The system's words for an errno, or the number where it has none.
    package static func text(_ code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

/// The result of a system call, which is made again as long as a signal interrupts it.
@inlinable package func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

extension SystemError: MessageError {
    package var message: UserMessage { UserMessage(errorNumber: errno, text: "The call \(operation) failed: \(SystemError.text(errno)).") }
}
