import CollarFormats
import CollarErrors
import CollarHost
import CollarJournal
import CollarWire

extension LinkHealth.Event {
    func message(of collar: String) -> UserMessage {
        switch self {
        case .reachable(let silence?): UserMessage("\(collar) is heard again, after \(silence / 1_000_000) s.")
        case .reachable(nil): UserMessage("\(collar) is heard again.")
        case .late(let silence): UserMessage("\(collar) is late: nothing was heard of it for \(silence / 1_000_000) s.")
        case .unreachable(let silence):
            UserMessage(
                "\(collar) is not reachable: nothing was heard of it for \(silence / 1_000_000) s.",
                "Is it switched on, charged and in range? What it stores comes when it is heard again.")
        case .condition(.healthy): UserMessage("\(collar) has a healthy link again.")
        case .condition(.degraded):
            UserMessage("\(collar) has a degraded link: \(LinkHealth.degradedFailureCount) expected frames in a row did not come.")
        case .condition(.unhealthy):
            UserMessage(
                "\(collar) has an unhealthy link: \(LinkHealth.unhealthyFailureCount) expected frames in a row did not come.",
                "Look for the animal; charge the collar, and restart it near the radio.")
        }
    }
}

extension PositionProblem {
    func message(of deviceID: DeviceID) -> UserMessage {
        let (collar, subject) = (collarName(deviceID), collarSubject(deviceID))
        return switch self {
        case .trackingOff:
            UserMessage(
                "\(subject) logs no positions: tracking is switched off.",
                running: .send("track", "on", to: deviceID)
            ) { "Switch it on: \($0)." }
        case .gnssOff:
            UserMessage(
                "The GNSS receiver of \(collar) is switched off.",
                running: .send("locate", to: deviceID)
            ) { "Ask for a fix: \($0). Or charge the collar." }
        case .gnssFault:
            UserMessage(
                "The GNSS receiver of \(collar) reports a fault or does not answer.",
                running: .send("reboot", to: deviceID)
            ) { "Restart the collar: \($0)." }
        case .undecodable:
            UserMessage(
                "\(subject) sent a fix that cannot be decoded.",
                "Use the collar-link that goes with the collar's firmware.")
        case .noFix(let silence):
            UserMessage(
                "\(subject) is heard, and has sent no fix for \(silence / 1_000_000) s.",
                "Bring it under the open sky: a GNSS receiver needs some minutes at first.")
        case .stale(let age):
            UserMessage(
                "The newest fix of \(collar) came \(age / 1_000_000) s ago, although the collar is heard.",
                running: .send("locate", to: deviceID)
            ) { "Its GNSS receiver has no view of the sky. Ask for a fix: \($0)." }
        case .poorAccuracy(let meters):
            UserMessage(
                "The newest fix of \(collar) is accurate to \(meters) m only.",
                "Wait for a better one: under trees, roofs and between houses a GNSS receiver is inaccurate.")
        }
    }
}

extension CollarMemory.BatteryWarning {
    func message(of collar: String, percent: Int) -> UserMessage {
        self == .critical
            ? UserMessage(
                "The battery of \(collar) is almost empty: \(percent) %.",
                "Charge it now. Until then the collar makes fewer fixes and sends fewer of them, and it may stop at any time.")
            : UserMessage(
                "The battery of \(collar) is low: \(percent) %.",
                "Charge it soon. Until then the collar makes fewer fixes and sends fewer of them.")
    }
}

extension CollarFault {
    func message(of deviceID: DeviceID) -> UserMessage {
        let (collar, subject) = (collarName(deviceID), collarSubject(deviceID))
        let reboot = ShellCommand.send("reboot", to: deviceID)
        return switch self {
        case .gnssSilent:
            UserMessage("The GNSS receiver of \(collar) did not answer.", running: reboot) { "Restart it: \($0)." }
        case .gnssFault:
            UserMessage(
                "The GNSS receiver of \(collar) reported a fault of itself or its antenna.", running: reboot
            ) { "Restart it: \($0)." }
        case .flashFailed:
            UserMessage("The memory of \(collar) failed: positions may be missing.", running: reboot) {
                "Restart it: \($0). If it happens again, replace the collar."
            }
        case .radioFailed: UserMessage("The radio of \(collar) failed for a time.", running: reboot) { "Restart it: \($0)." }
        case .lowVoltageReset:
            UserMessage("\(subject) restarted because its voltage was too low.", "Charge it, or replace its battery.")
        case .watchdogReset: UserMessage("\(subject) restarted because its firmware hung.")
        case .firmwareReset: UserMessage("\(subject) restarted after a fault of its firmware.")
        case .settingsLost:
            UserMessage(
                "\(subject) lost its settings, and uses older ones or the defaults.",
                "Set them again: `collar-link send settings set KEY=VALUE --collar \(deviceID)`.")
        case .gnssNotSwitched:
            UserMessage(
                "The GNSS receiver of \(collar) works although its supply is off: the battery will be empty sooner.",
                "Let the collar be repaired: the switch of that supply does not work.")
        default: UserMessage("\(subject) reports error \(rawValue), which its firmware's maker can explain.")
        }
    }
}

extension Misbehaviour {
    func message(of collar: String) -> UserMessage {
        let faulty = "Its firmware is faulty, or somebody else sends in its name: see section 20 of PROTOCOL.md."
        return switch self {
        case .otherContent(let sequence):
            UserMessage("\(collar) sent fix \(sequence) again with another content; what came first is kept.", faulty)
        case .sequenceJump(let from, let to):
            UserMessage("\(collar) jumped from fix \(from) to fix \(to).", faulty)
        case .tooManyGaps:
            UserMessage("\(collar) has more gaps, or names more logs, than can be tracked; some fixes are not stored.", faulty)
        case .tooManyLogs:
            UserMessage("\(collar) names more logs than can be kept in memory; those with the fewest fixes are dropped.", faulty)
        case .tooManyPolls:
            UserMessage(
                "\(collar) keeps polling without sending anything new; some polls are not answered.",
                "Does it hear the answers? If it is near, restart it.")
        case .tooManyLosses:
            UserMessage(
                "\(collar) reports more losses than are shown here; all of them are stored.",
                "Its memory is full or faulty; bring it near the radio so that it delivers sooner.")
        }
    }
}
