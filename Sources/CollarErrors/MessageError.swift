import Glibc

/// An error that has a message for a person.
package protocol MessageError: Error {
    /// What to tell a person.
    var message: UserMessage { get }
}

extension UserMessage {
    /// The failure of a system call, as `text` tells it.
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
