import FoundationEssentials

/// Something that went wrong, in the words of the person who has to deal with it.
///
/// Every case has a title (`errorDescription`), a reason (`failureReason`) and a step to take (`recoverySuggestion`).
public enum UserFacingError: Error, Equatable, Sendable {
    /// The port or the state directory at `path` may not be opened.
    case permissionDenied(path: String, obstacle: PermissionObstacle)
    /// The collar's GNSS receiver or its tracking is switched off.
    case locationServicesDisabled
    /// The position is known to no better than 50 m.
    case poorGPSAccuracy
    /// The collar reports a fault of its GNSS receiver.
    case locationUpdateFailed(underlyingError: String)
    /// The device speaks another version of the protocol, or is not a collar's radio.
    case linkNotSupported
    /// No collar has introduced itself yet.
    case sessionNotEstablished
    /// No collar introduced itself in time.
    case sessionTimeout
    /// The collar does not answer.
    case collarNotReachable
    /// A message could not be handed to the radio.
    case messageSendFailed(underlyingError: String)
    /// What was received is not a fix.
    case locationDecodingFailed
    /// There is no fix yet.
    case noLocationData
    /// The latest fix is old. `age` in seconds.
    case staleLocationData(age: TimeInterval)
    /// Another program holds the port. `by` names the program; empty when it could not be found out.
    case deviceInUse(by: String)
    /// The journal cannot be written: the disk is full, read-only or damaged.
    case storageFailing(description: String)
    /// The collar answers to another host. `receiver` is that host's id.
    case pairedElsewhere(receiver: String)
    /// Anything else. `description` is what the system said.
    case unknown(description: String)

    /// What keeps us from opening something.
    public enum PermissionObstacle: Equatable, Sendable {
        /// This user may not, others may. `group` has access, if it could be found out; `isMember` tells that the user
        /// is in it already but logged in before that.
        case user(group: String?, isMember: Bool)
        /// Nobody but root may: no udev rule grants access.
        case systemWide
        /// Permissions would allow it, a container or a security module does not.
        case restricted
    }

    /// How bad it is.
    public enum Severity: String, Sendable, CaseIterable {
        /// Worth knowing; nothing needs to be done.
        case info
        /// It should pass; if not, something needs to be done.
        case warning
        /// Something failed; it is tried again.
        case error
        /// Nothing works until somebody acts.
        case critical
    }

    /// How bad it is.
    public var severity: Severity {
        switch self {
        case .poorGPSAccuracy, .noLocationData, .staleLocationData: .info
        case .sessionNotEstablished, .sessionTimeout, .collarNotReachable: .warning
        case .locationUpdateFailed, .messageSendFailed, .locationDecodingFailed, .unknown: .error
        case .permissionDenied, .locationServicesDisabled, .linkNotSupported, .deviceInUse, .storageFailing,
            .pairedElsewhere:
            .critical
        }
    }

    /// Whether trying again, without anybody doing anything to the collar or this machine's settings, can help.
    public var isRetryable: Bool {
        switch self {
        case .permissionDenied, .locationServicesDisabled, .poorGPSAccuracy, .linkNotSupported, .pairedElsewhere: false
        case .locationUpdateFailed, .sessionNotEstablished, .sessionTimeout, .collarNotReachable,
            .messageSendFailed, .locationDecodingFailed, .noLocationData, .staleLocationData, .deviceInUse,
            .storageFailing, .unknown:
            true
        }
    }
}
