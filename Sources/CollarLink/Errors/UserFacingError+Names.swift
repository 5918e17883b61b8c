import CollarErrors
import CollarFormats
import FoundationEssentials

// The errors of the model by their names, each with a reason and a remedy that hold without further facts. The errors that streams throw
// have the same codes and say more: compare ``UserFacingError/code``.

extension UserFacingError {
    /// The journals, the state directory or the port may not be opened. Critical; granting access helps, and trying again does not.
    public static let permissionDenied = UserFacingError(
        .permissionDenied, reason: "This user may not read what the receiver stores, or may not open its radio.",
        remedy: "Find out what is missing: `collar-link doctor`.")

    /// The collar's positions are switched off. Critical, not retryable.
    public static let locationServicesDisabled = UserFacingError(
        .locationServicesDisabled, reason: "The collar logs no positions.", remedy: "Switch tracking on: `collar-link send track on`.")

    /// The accuracy of a fix is worse than 50 m. An information, not retryable.
    public static let poorGPSAccuracy = UserFacingError(
        .poorGPSAccuracy, reason: "The position may be off by more than 50 m.",
        remedy: "Wait for a better one: under trees, roofs and between houses a GNSS receiver is inaccurate.")

    /// The collar reports a fault of its GNSS receiver. An error, retryable.
    /// - Parameter underlyingError: the fault, in a sentence.
    public static func locationUpdateFailed(underlyingError: String) -> UserFacingError {
        UserFacingError(.locationUpdateFailed, reason: underlyingError, remedy: "Restart the collar: `collar-link send reboot`.")
    }

    /// The device speaks another version of the protocol, or is no collar. Critical, not retryable.
    public static let linkNotSupported = UserFacingError(
        .linkNotSupported, reason: "The device speaks another version of the protocol, or is no collar.",
        remedy: "Use the collar-link that goes with the collar's firmware.")

    /// A radio is open, and no collar was heard for a second. A warning, retryable.
    public static let sessionNotEstablished = UserFacingError(
        .sessionNotEstablished, reason: "No collar was heard since the radio was opened.",
        remedy: "Switch the collar on, and bring it in range.")

    /// No collar was heard in time after the opening of a radio. A warning, retryable.
    public static let sessionTimeout = UserFacingError(
        .sessionTimeout, reason: "No collar was heard in time.", remedy: "Switch the collar on, and bring it in range.")

    /// The collar missed three heartbeats. A warning, retryable.
    public static let collarNotReachable = UserFacingError(
        .collarNotReachable, reason: "The collar missed three heartbeats.", remedy: "Bring the collar in range, and charge it.")

    /// A message could not be sent. An error, retryable.
    /// - Parameter underlyingError: the cause, in a sentence.
    public static func messageSendFailed(underlyingError: String) -> UserFacingError {
        UserFacingError(.messageSendFailed, reason: underlyingError, remedy: "Unplug the radio and plug it in again.")
    }

    /// A fix or its JSON cannot be decoded. An error, retryable.
    public static let locationDecodingFailed = UserFacingError(
        .locationDecodingFailed, reason: "A fix cannot be decoded.", remedy: "Use the collar-link that goes with the collar's firmware.")

    /// The collar is heard, and has sent no fix. An information, retryable.
    public static let noLocationData = UserFacingError(
        .noLocationData, reason: "The collar has sent no position yet.",
        remedy: "Bring it under the open sky: a GNSS receiver needs some minutes at first.")

    /// The newest fix is old. An information, retryable.
    /// - Parameter age: its age in seconds.
    public static func staleLocationData(age: TimeInterval) -> UserFacingError {
        UserFacingError(
            .staleLocationData, reason: "The newest position is \(Int64(exactly: age.rounded()) ?? 0) s old.",
            remedy: "Ask for a new one: `collar-link send locate`.")
    }

    /// Another error. An error, retryable.
    /// - Parameter description: the cause, in a sentence.
    public static func unknown(description: String) -> UserFacingError { UserFacingError(.unknown, reason: description) }

    /// Another program has the radio open. Critical, retryable.
    /// - Parameter process: the program, such as `minicom (process 4711)`.
    public static func deviceInUse(by process: String) -> UserFacingError {
        UserFacingError(.deviceInUse, reason: "The radio is in use by \(process).", remedy: "Close that program.")
    }

    /// The receiver cannot store: its disk is full, read-only or damaged. Critical, retryable.
    /// - Parameter description: the cause, in a sentence.
    public static func storageFailing(description: String) -> UserFacingError {
        UserFacingError(.storageFailing, reason: description, remedy: "Mend what keeps the state directory from being written.")
    }

    /// The collar belongs to another receiver. Critical, not retryable.
    /// - Parameter receiver: the id of that receiver, 8 hexadecimal digits.
    public static func pairedElsewhere(receiver: String) -> UserFacingError {
        let message = UserMessage(.pairedElsewhere, "The collar belongs to receiver \(receiver).", ofCollar: nil)
        return UserFacingError(.pairedElsewhere, reason: message.reason, remedy: message.remedy)
    }
}
