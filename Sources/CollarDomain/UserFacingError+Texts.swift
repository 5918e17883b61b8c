import FoundationEssentials

extension UserFacingError: LocalizedError {
    /// A short title.
    public var errorDescription: String? {
        switch self {
        case .permissionDenied: "Permission denied"
        case .locationServicesDisabled: "Tracking is off"
        case .poorGPSAccuracy: "Poor GPS accuracy"
        case .locationUpdateFailed: "The collar cannot find its position"
        case .linkNotSupported: "Not a collar this program understands"
        case .sessionNotEstablished: "Connecting to collar…"
        case .sessionTimeout: "No collar answered in time"
        case .collarNotReachable: "Collar not reachable"
        case .messageSendFailed: "Message not sent"
        case .locationDecodingFailed: "Position not readable"
        case .noLocationData: "No position yet"
        case .staleLocationData: "The latest position is old"
        case .deviceInUse: "The radio is in use"
        case .storageFailing: "Positions cannot be stored"
        case .pairedElsewhere: "The collar is paired with another receiver"
        case .unknown: "Something went wrong"
        }
    }

    /// Why it happened, in a sentence.
    public var failureReason: String? {
        switch self {
        case .permissionDenied(let path, let obstacle): permissionReason(path, obstacle)
        case .locationServicesDisabled: "The collar's GNSS receiver or its tracking is switched off."
        case .poorGPSAccuracy: "The collar knows its position to no better than 50 m."
        case .locationUpdateFailed(let error): "The collar's GNSS receiver reports a fault: \(error)."
        case .linkNotSupported:
            "The device speaks another version of the Collar Link Protocol, or it is not a collar's radio."
        case .sessionNotEstablished: "The radio is open, but no collar has introduced itself yet."
        case .sessionTimeout: "The radio is open, but no collar introduced itself within the time allowed."
        case .collarNotReachable: "Nothing has been heard from the collar for three heartbeats."
        case .messageSendFailed(let error): "The radio did not take the message: \(error)."
        case .locationDecodingFailed: "What was received is not a valid position."
        case .noLocationData: "The collar has not sent a position."
        case .staleLocationData(let age): "The latest position is \(duration(age)) old."
        case .deviceInUse(let program):
            program.isEmpty ? "Another program has the port open." : "\(program) has the port open."
        case .storageFailing(let description):
            "The journal cannot be written: \(description). Nothing is acknowledged, so the collar keeps its positions."
        case .pairedElsewhere(let receiver): "It answers only to the receiver \(receiver)."
        case .unknown(let description): description
        }
    }

    /// A step the person can take, with the exact command where there is one.
    public var recoverySuggestion: String? {
        switch self {
        case .permissionDenied(let path, let obstacle): permissionRemedy(path, obstacle)
        case .locationServicesDisabled: "Switch tracking on: collar-link send start"
        case .poorGPSAccuracy: "It improves under open sky. Nothing needs to be done."
        case .locationUpdateFailed: "It is tried again. If it stays, restart the collar: collar-link send reboot"
        case .linkNotSupported:
            "See what is plugged in: collar-link devices. If it is a collar's radio, update its firmware or this "
                + "program."
        case .sessionNotEstablished: "Wait a moment. If it stays so, check that the collar is charged and switched on."
        case .sessionTimeout:
            "Check that the collar is charged, switched on and in range; then see what is found: collar-link doctor"
        case .collarNotReachable:
            "Bring the radio closer or to a window. Positions are kept on the collar and follow when it is back."
        case .messageSendFailed: "It is tried again. If it stays, unplug the radio and plug it in again."
        case .locationDecodingFailed: "It is asked for again. If it stays, run: collar-link doctor"
        case .noLocationData: "Take the collar under open sky; the first position can take a minute."
        case .staleLocationData: "Ask for a new one: collar-link send locate"
        case .deviceInUse: "Close that program, or see which one it is: collar-link doctor"
        case .storageFailing:
            "See the space left: df -h \"${XDG_STATE_HOME:-$HOME/.local/state}\". Or store elsewhere: "
                + "collar-link --state-dir DIR"
        case .pairedElsewhere:
            "Press the collar's button and run within a minute: collar-link send pair. Or release it at the other "
                + "receiver: collar-link send unpair"
        case .unknown: "Run: collar-link doctor"
        }
    }

    private func permissionReason(_ path: String, _ obstacle: PermissionObstacle) -> String {
        switch obstacle {
        case .user(let group?, isMember: true):
            "You are in the group \(group), which may open \(path), but logged in before you were added."
        case .user(let group?, isMember: false): "\(path) may be opened by the group \(group), and you are not in it."
        case .user(nil, _): "You may not open \(path)."
        case .systemWide: "Nobody but root may open \(path): no udev rule grants access to it."
        case .restricted: "A container or a security module keeps this program from \(path)."
        }
    }

    private func permissionRemedy(_ path: String, _ obstacle: PermissionObstacle) -> String {
        switch obstacle {
        case .user(let group?, isMember: true): "Log out and in again, or run: newgrp \(group)"
        case .user(let group?, isMember: false): "Run: sudo usermod -aG \(group) \"$USER\", then log out and in again."
        case .user(nil, _): "See who may: ls -l \(path); getfacl \(path). Then run: collar-link doctor"
        case .systemWide:
            "Install the rule, then plug the radio in again: sudo cp hardware/udev/70-collar-link.rules "
                + "/etc/udev/rules.d/ && sudo udevadm control --reload"
        case .restricted:
            "Pass the device to the container (for example: docker run --device \(path) …), or see what refused it: "
                + "journalctl -k --grep denied"
        }
    }

    /// "45 s", "12 min" or "3 h", rounded down.
    private func duration(_ seconds: TimeInterval) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "very" }
        switch seconds {
        case ..<120: return "\(Int(max(seconds, 0))) s"
        case ..<7200: return "\(Int(seconds / 60)) min"
        default: return "\(Int(seconds / 3600)) h"
        }
    }
}
