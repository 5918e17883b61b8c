extension ErrorCode {
    /// The error in a few words.
    public var title: String {
        switch self {
        case .noDevice: "No device"
        case .deviceInUse: "Radio in use"
        case .permissionDenied: "Permission denied"
        case .notASerialPort: "Not a serial port"
        case .portFailed: "Port cannot be set up"
        case .discoveryFailed: "Devices cannot be discovered"
        case .messageSendFailed: "Radio takes nothing"
        case .sessionNotEstablished: "No session yet"
        case .sessionTimeout: "No collar in time"
        case .linkNotSupported: "Protocol not supported"
        case .pairedElsewhere: "Collar belongs to another receiver"
        case .collarNotReachable: "Collar not reachable"
        case .linkUnhealthy: "Link unhealthy"
        case .locationServicesDisabled: "Positions are switched off"
        case .locationUpdateFailed: "GNSS receiver faulty"
        case .locationDecodingFailed: "Fix cannot be decoded"
        case .noLocationData: "No position yet"
        case .staleLocationData: "Position is old"
        case .poorGPSAccuracy: "Position is inaccurate"
        case .collarFault: "Collar reports an error"
        case .storageFailing: "Storage failing"
        case .journalUnavailable: "Journal cannot be opened"
        case .journalUnreadable: "Journal cannot be read"
        case .journalDamaged: "Journal damaged"
        case .stateInUse: "State directory in use"
        case .stateUnusable: "State directory cannot be used"
        case .noReceiver: "No receiver"
        case .receiverCopied: "Another receiver than before"
        case .oldFixesKept: "Old fixes cannot be removed"
        case .requestsDamaged: "Requests damaged"
        case .requestsFailing: "Requests cannot be stored"
        case .unknownFix: "Fix not found"
        case .fixChanged, .sequenceJumped, .tooManyGaps, .tooManyLogs, .tooManyPolls, .tooManyLosses: "Collar misbehaves"
        case .tooManyCollars, .tooManyNewCollars: "Collar not accepted"
        case .tooManyUnknownPolls: "Unknown collars poll too often"
        case .keyMissing: "No key"
        case .keyRejected: "Key does not fit"
        case .collarRestarted: "Collar counts too few boots"
        case .forgeryAttempted: "Somebody may pass for the collar"
        case .keyUnusable: "Keys cannot be used"
        case .badRequest: "Request not understood"
        case .notPermitted: "Requests not permitted"
        case .unknownCollar, .noCollar: "Collar not known"
        case .whichCollar: "Several collars"
        case .noRadio: "No radio"
        case .noContact: "No contact"
        case .queueFull, .tooManyRequests: "Too many requests"
        case .noVersion: "No settings version left"
        case .unknownRequest: "Request not known"
        case .tooManyClients: "Too many programs"
        case .controlFailing: "No control socket"
        case .outputFailed: "Output cannot be written"
        case .unknown: "Unexpected error"
        }
    }

    /// The step that the person can take after a rejected request; nil if there is none.
    var requestRemedy: String? {
        switch self {
        case .unknownCollar, .whichCollar: "name one that is known: --collar ID"
        case .noCollar: "run collar-link until it has heard the collar, or name it: --collar ID"
        case .pairedElsewhere: "switch the collar off and on, and within 60 s: collar-link send pair"
        case .noRadio: "plug the radio in, or wait for it: leave out --now"
        case .noContact: "bring the collar in range, or wait for it: leave out --now"
        case .queueFull: "wait until some have ended, or use --latest"
        case .storageFailing: "mend what keeps the state directory from being written"
        default: nil
        }
    }
}
