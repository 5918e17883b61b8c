extension ErrorCode {
    /// What an error is about.
    package var category: LogCategory {
        switch self {
        case .noDevice, .deviceInUse, .permissionDenied, .notASerialPort, .portFailed, .discoveryFailed, .messageSendFailed,
            .regionMissing, .radioSettingRefused, .radioRestarted, .radioNotAnswering, .radioNotSending, .radioBusy, .foreignPackets,
            .radioFault, .radioUnreachable, .unknownRadio, .sessionNotEstablished, .sessionTimeout, .linkNotSupported, .pairedElsewhere, .collarNotReachable,
            .linkUnhealthy, .keyMissing, .keyRejected, .keyLost, .collarRestarted, .forgeryAttempted, .keyUnusable, .badRequest, .notPermitted,
            .unknownCollar, .noCollar, .whichCollar, .notPaired, .noRadio, .noContact, .queueFull, .noVersion, .unknownRequest, .controlFailing,
            .requestsDamaged, .requestsFailing, .tooManyPolls, .tooManyUnknownPolls, .captureFailing, .captureDamaged, .noCapture,
            .commandFailed, .outputFailed, .unknown:
            .connectivity
        case .locationServicesDisabled, .locationUpdateFailed, .locationDecodingFailed, .noLocationData, .staleLocationData,
            .poorGPSAccuracy, .collarFault, .storageFailing, .journalUnavailable, .journalUnreadable, .journalDamaged, .stateInUse,
            .stateUnusable, .noReceiver, .receiverCopied, .removedUnread, .readerUnusable, .oldFixesKept, .unknownFix, .fixChanged,
            .sequenceJumped, .tooManyLosses, .animalsUnusable:
            .collarLocation
        case .dutyCycleReached, .dwellTimeExceeded, .tooManyGaps, .tooManyLogs, .tooManyCollars, .tooManyNewCollars, .tooManyClients,
            .tooManyRequests, .targetMissed:
            .performance
        case .batteryLow, .batteryCritical: .power
        case .runCrashed: .crash
        }
    }
}
