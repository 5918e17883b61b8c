import CollarErrors
import CollarFormats
import FoundationEssentials
import Glibc

/// An error in the form in which a person reads it: a title, a reason, and a step to take.
///
///     do {
///         try decoder.decode(LocationFix.self, from: data)
///     } catch {
///         if let error = UserFacingError.from(error) { show(error.errorDescription, error.recoverySuggestion) }
///     }
public struct UserFacingError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// What went wrong, for programs.
    public let code: ErrorCode
    /// What happened, in whole sentences.
    public let reason: String
    /// A step that the person can take; nil where there is none.
    public let remedy: String?

    /// Creates an error.
    public init(_ code: ErrorCode, reason: String, remedy: String? = nil) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
    }

    /// A message as an error; nil for a message that reports no error.
    package init?(_ message: UserMessage) {
        guard let code = message.code else { return nil }
        self.init(code, reason: message.reason, remedy: message.remedy)
    }

    /// The title: a few words.
    public var errorDescription: String? { code.title }
    /// What happened, in whole sentences.
    public var failureReason: String? { reason }
    /// A step that the person can take; nil where there is none.
    public var recoverySuggestion: String? { remedy }
    /// How severe the error is.
    public var severity: ErrorCode.Severity { code.severity }
    /// Title, reason and remedy in one line.
    public var description: String { "\(code.title): \(reason)\(remedy.map { " \($0)" } ?? "")" }
    /// Whether the same action can succeed later by itself; a receiver may start later. A missing permission is granted by a person; streams
    /// and trackers go on then.
    public var isRetryable: Bool { code != .permissionDenied && (code.isRetryable || code == .noReceiver) }

    /// What to tell a person about any error; nil for a cancellation, which is no error.
    ///
    /// The function recognises errors of CollarLink, POSIX errors and errors of decoding. Anything else becomes
    /// `ErrorCode.unknown`, with the description of the error as reason.
    public static func from(_ error: any Error) -> UserFacingError? {
        switch error {
        case is CancellationError: nil
        case let error as UserFacingError: error
        case let error as any MessageError: UserFacingError(error.message)
        case let error as POSIXError:
            error.code == .ECANCELED
                ? nil : UserFacingError(UserMessage(errorNumber: error.code.rawValue, text: "\(text(of: error.code.rawValue))."))
        case let error as TrackLineError: UserFacingError(.locationDecodingFailed, reason: error.description)
        case is DecodingError: UserFacingError(.locationDecodingFailed, reason: "\(error)")
        default: UserFacingError(.unknown, reason: "\(error)")
        }
    }

    /// The system's words for an error number.
    private static func text(of errorNumber: Int32) -> String {
        unsafe strerror(errorNumber).map { unsafe String(cString: $0) } ?? "error \(errorNumber)"
    }
}
