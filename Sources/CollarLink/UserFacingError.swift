import CollarBridge
import CollarHost
import CollarJournal
import CollarReceiver
import FoundationEssentials
import Glibc
import SerialDevices

/// An error in the form in which a person reads it: a title, a reason, and a step to take.
///
///     do {
///         try receiver.run()
///     } catch {
///         if let error = UserFacingError.from(error) { show(error.errorDescription, error.recoverySuggestion) }
///     }
public struct UserFacingError: LocalizedError, Equatable, Sendable {
    /// What went wrong, for programs.
    public let code: ErrorCode
    /// What happened, in one sentence.
    public let reason: String
    /// A step that the person can take; nil where there is none.
    public let remedy: String?

    /// Creates an error.
    public init(_ code: ErrorCode, reason: String, remedy: String? = nil) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
    }

    /// The message of a receiver as an error; nil for a message that reports no error.
    public init?(_ message: UserMessage) {
        guard let code = message.code else { return nil }
        self.init(code, reason: message.reason, remedy: message.remedy)
    }

    /// The notice of a receiver as an error; nil for a notice that reports no error.
    public init?(_ notice: ReceiverNotice) { self.init(notice.message) }

    /// The title: a few words.
    public var errorDescription: String? { code.title }
    /// What happened, in one sentence.
    public var failureReason: String? { reason }
    /// A step that the person can take; nil where there is none.
    public var recoverySuggestion: String? { remedy }
    /// How severe the error is.
    public var severity: ErrorCode.Severity { code.severity }
    /// Whether the same action can succeed later.
    public var isRetryable: Bool { code.isRetryable }
}

extension UserFacingError {
    /// What to tell a person about any error; nil for a cancellation, which is no error.
    ///
    /// The function recognises errors of CollarLink, POSIX errors and errors of decoding. Anything else becomes
    /// `ErrorCode.unknown`, with the description of the error as reason.
    public static func from(_ error: any Error) -> UserFacingError? {
        switch error {
        case is CancellationError: nil
        case let error as UserFacingError: error
        case let error as ReceiverError: UserFacingError(error.message)
        case let error as SerialPortError: UserFacingError(error.message)
        case let error as JournalError: UserFacingError(error.message)
        case let error as FileFailure: UserFacingError(error.message)
        case let error as RequestRefusal: UserFacingError(error.message)
        case let error as SystemError: from(errorNumber: error.errno, text: error.text)
        case let error as POSIXError:
            error.code == .ECANCELED ? nil : from(errorNumber: error.code.rawValue, text: SystemError.text(error.code.rawValue))
        case let error as TrackLineError: UserFacingError(.locationDecodingFailed, reason: error.description)
        case is DecodingError: UserFacingError(.locationDecodingFailed, reason: "\(error)")
        default: UserFacingError(.unknown, reason: "\(error)")
        }
    }

    private static func from(errorNumber: Int32, text: String) -> UserFacingError {
        let code: ErrorCode =
            switch errorNumber {
            case EACCES, EPERM: .permissionDenied
            case EBUSY: .deviceInUse
            case ENODEV, ENXIO: .noDevice
            case ENOSPC, EDQUOT, EROFS, EFBIG: .storageFailing
            case ETIMEDOUT: .sessionTimeout
            default: .unknown
            }
        return UserFacingError(code, reason: text)
    }
}
