import CollarWire

/// Settings that were durable and cannot be read any more, so that older ones or the defaults are in force.

extension StoredValues {
    /// Notes that settings of this version were durable: they are lost if their version is above that of the settings here.
    mutating func noteLoss(ofVersion version: UInt64) {
        if version > self[.settingsVersion] ?? 0 { self[.settingsLost] = version }
    }
}

extension Collar {
    /// Whether settings were lost and have not been set since.
    var isSettingsLost: Bool { settingsStore.value(of: .settingsLost) != nil }

    /// The last error in the status of a condition. Lost settings take the place of the cause of the boot: a boot after a low
    /// voltage can be the very one that finds them lost.
    func lastError(in condition: CollarCondition) -> CollarFault {
        let error = condition.lastError
        let isOfBoot = error == .none || error == .lowVoltageReset || error == .watchdogReset || error == .firmwareReset
        return isSettingsLost && isOfBoot ? .settingsLost : error
    }
}
