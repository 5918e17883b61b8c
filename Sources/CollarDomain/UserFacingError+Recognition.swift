import FoundationEssentials
import Glibc

/// An error of ours that knows how to tell a person about itself.
public protocol UserFacingErrorConvertible: Error {
    /// The error in a person's words.
    var userFacingError: UserFacingError { get }
}

extension UserFacingError {
    /// What a failed system call was about.
    public enum SystemObject: Equatable, Sendable {
        /// A radio's port, with its path.
        case port(path: String)
        /// The journal or its directory, with its path.
        case storage(path: String)
        /// Something else.
        case other

        /// The path; empty for something else.
        public var path: String {
            switch self {
            case .port(let path), .storage(let path): path
            case .other: ""
            }
        }
    }

    /// Whether `error` only says that something was called off, which is never shown as an error.
    public static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? POSIXError)?.code == .ECANCELED
            || (error as? CocoaError)?.code == .userCancelled
    }

    /// The error to show a person; nil for a cancellation.
    public static func shown(_ error: any Error) -> UserFacingError? {
        isCancellation(error) ? nil : from(error)
    }

    /// What `error` means to a person. Our own errors and errno are recognised first, then decoding, then the text.
    /// A cancellation is ``unknown(description:)``; ask ``shown(_:)`` where one can occur.
    public static func from(_ error: any Error) -> UserFacingError {
        switch error {
        case let known as UserFacingError: return known
        case let convertible as any UserFacingErrorConvertible: return convertible.userFacingError
        case let posix as POSIXError: return from(errno: posix.code.rawValue, on: .other)
        case is TrackLineError, is DecodingError: return .locationDecodingFailed
        default: break
        }
        let text = (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
        return from(text: text)
    }

    /// What the errno of a failed system call means to a person.
    public static func from(errno code: Int32, on object: SystemObject) -> UserFacingError {
        switch (code, object) {
        // A permission must never look like something that is not there.
        case (EACCES, _): return .permissionDenied(path: object.path, obstacle: .user(group: nil, isMember: false))
        case (EPERM, _): return .permissionDenied(path: object.path, obstacle: .restricted)
        case (ENOSPC, _), (EDQUOT, _), (EROFS, _), (EIO, .storage):
            return .storageFailing(description: systemText(code))
        case (EBUSY, _), (EWOULDBLOCK, .port), (EWOULDBLOCK, .storage): return .deviceInUse(by: "")
        case (EIO, .port), (ENODEV, .port), (ENXIO, .port), (ENOENT, .port): return .collarNotReachable
        case (ETIMEDOUT, _): return .sessionTimeout
        case (EPROTO, _), (EPROTONOSUPPORT, _): return .linkNotSupported
        case (_, .storage): return .storageFailing(description: systemText(code))
        default: return .unknown(description: systemText(code))
        }
    }

    private static func systemText(_ code: Int32) -> String {
        // The C string is copied at once; glibc keeps the texts of known codes in read-only memory.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// The last resort: words in an error of somebody else's.
    private static func from(text: String) -> UserFacingError {
        let words = text.lowercased()
        if words.contains("permission denied") {
            return .permissionDenied(path: "", obstacle: .user(group: nil, isMember: false))
        }
        let linkNames = ["collar", "link", "radio", "serial", "protocol"]
        if words.contains("not supported"), linkNames.contains(where: { words.contains($0) }) {
            return .linkNotSupported
        }
        if words.contains("not activated"), words.contains("session") { return .sessionNotEstablished }
        if words.contains("timeout") || words.contains("timed out") { return .sessionTimeout }
        return .unknown(description: text)
    }
}
