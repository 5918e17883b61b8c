import CollarConfiguration
import CollarErrors
import CollarHost
import CollarWire

// The code of each notice, known without its sentence. Nil for a notice that reports no error.

extension ReceiverNotice {
    package var code: ErrorCode? {
        switch self {
        case .port(_, .cannotOpen(let error)): error.code
        case .port(_, .cannotConnect): .radioUnreachable
        case .port(_, .read): .deviceInUse
        case .cannotSend: .messageSendFailed
        case .modem(_, let notice): notice.code
        case .controlFailing: .controlFailing
        case .editedFile(let fault): fault.code
        case .captureStopped: .captureFailing
        case .crashed: .runCrashed
        case .targetMissed: .targetMissed
        case .host(let notice): notice.code
        case .repeated(let notice, _): notice.code
        case .port, .waitingForRadio, .udevElsewhere, .renewing, .fixesLeftOut, .capturing,
            .figures, .traffic:
            nil
        }
    }
}

extension HostNotice {
    var code: ErrorCode? {
        switch self {
        case .link(_, let notice): notice.code
        case .collar(_, let notice): notice.code
        case .keysFailing: .keyUnusable
        case .requestEnded: nil
        }
    }
}

extension LinkNotice {
    var code: ErrorCode? {
        switch self {
        case .noIdentity(let silence, _): silence < 5_000_000 ? .sessionNotEstablished : .sessionTimeout
        case .foreignPackets: .foreignPackets
        case .unsupportedFrame: .linkNotSupported
        case .keyMissing: .keyMissing
        case .keyRejected: .keyRejected
        case .unknownPollsIgnored: .tooManyUnknownPolls
        case .radio, .modem: nil
        }
    }
}

extension CollarNotice {
    var code: ErrorCode? {
        switch self {
        case .pairedElsewhere: .pairedElsewhere
        case .copiedJournal: .receiverCopied
        case .forgeryAttempted, .onlyRepeats: .forgeryAttempted
        case .keyLost: .keyLost
        case .restartedBelow: .collarRestarted
        case .journalDamage: .journalDamaged
        case .removedUnread: .removedUnread
        case .cannotRemoveOld: .oldFixesKept
        case .storageFailing: .storageFailing
        case .journalUnavailable: .journalUnavailable
        case .journalUnreadable: .journalUnreadable
        case .health(.unreachable): .collarNotReachable
        case .health(.condition(.unhealthy)): .linkUnhealthy
        case .positions(let problem): problem.code
        case .battery(let warning, _): warning == .critical ? .batteryCritical : .batteryLow
        case .restarted(let fault?) where fault != CollarFault.none: fault.code
        case .fault(let fault): fault.code
        case .misbehaving(let misbehaviour): misbehaviour.code
        case .refused(_, .tooManyCollars): .tooManyCollars
        case .refused(_, .tooManyAtOnce): .tooManyNewCollars
        case .requestsSetAside: .requestsDamaged
        case .requestsFailing: .requestsFailing
        case .heard, .damagedFixes, .storageRecovered, .lost, .deliveredElsewhere, .health, .restarted, .status, .power: nil
        }
    }
}

extension PositionProblem {
    var code: ErrorCode {
        switch self {
        case .trackingOff, .gnssOff: .locationServicesDisabled
        case .gnssFault: .locationUpdateFailed
        case .undecodable: .locationDecodingFailed
        case .noFix: .noLocationData
        case .stale: .staleLocationData
        case .poorAccuracy: .poorGPSAccuracy
        }
    }
}

extension CollarFault {
    var code: ErrorCode { self == .gnssSilent || self == .gnssFault ? .locationUpdateFailed : .collarFault }
}

extension Misbehaviour {
    var code: ErrorCode {
        switch self {
        case .otherContent: .fixChanged
        case .sequenceJump: .sequenceJumped
        case .tooManyGaps: .tooManyGaps
        case .tooManyLogs: .tooManyLogs
        case .tooManyPolls: .tooManyPolls
        case .tooManyLosses: .tooManyLosses
        }
    }
}
