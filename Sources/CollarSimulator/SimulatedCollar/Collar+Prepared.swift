import CollarARQ
import CollarFirmware
import CollarWire

/// Why a collar cannot be prepared.
package enum PreparationError: Error, Equatable, Sendable {
    /// The collar refuses this setting.
    case settingRefused(Setting)
    case flash(FlashError)
}

extension Collar {
    /// Boots a collar without a key, pairs it and gives it its settings, as a host does. Its flash keeps them.
    package static func prepared(
        on flash: Flash, _ configuration: Configuration, receiverID: UInt32, settings: [Setting] = [], randomLogID: UInt32 = 1, now: Instant
    ) throws(PreparationError) -> Collar {
        var collar: Collar
        let address = configuration.address
        do throws(FlashError) {
            collar = try Collar(booting: configuration, flash: flash, randomLogID: randomLogID, now: now)
            let pairing = Acknowledgement(receiverID: receiverID, poll: nil, firstMissing: 0)
            _ = try collar.receive(DayReceiver.frame { output throws(EncodeError) in
                try pairing.encode(address: address, log: collar.log, into: &output)
            }.span, now: now)
        } catch { throw .flash(error) }
        for (index, setting) in settings.enumerated() {
            var entries = SettingList()
            entries.append(setting)
            let update = Settings(
                direction: .update, requestID: UInt16(truncatingIfNeeded: index + 1),
                version: SettingsVersion(rawValue: UInt64(index + 1) << 20), entries: entries)
            let frame = DayReceiver.frame { output throws(EncodeError) in
                try update.encode(address: address, flags: FrameFlags(poll: nil), log: collar.log, into: &output)
            }
            let reception: Reception
            do throws(FlashError) { reception = try collar.receive(frame.span, now: now) } catch { throw .flash(error) }
            guard reception == .settingsChanged else { throw .settingRefused(setting) }
        }
        return collar
    }
}
