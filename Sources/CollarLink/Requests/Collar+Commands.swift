import CollarARQ
import CollarErrors
import CollarFormats
import CollarWire

/// The settings of a collar, with their version.
public struct VersionedSettings: Hashable, Sendable {
    /// The values, each in the unit of its key.
    public let values: [SettingKey: UInt32]
    /// The version: when they were changed, and by which receiver. The highest version wins.
    public let version: SettingsVersion

    /// The value of a setting; nil if the collar does not know it.
    public subscript(key: SettingKey) -> UInt32? { values[key] }
}

/// The commands that every collar knows. Each function returns when the collar has executed its command. The parameters and errors are
/// those of ``Collar/send(_:delivery:timeout:retry:)``.
extension Collar {
    /// Makes and sends a fix now; it comes with ``fixes``.
    public func locate(
        delivery: RequestDelivery = .queued, timeout: Duration = .seconds(120), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        try await execute(.command(.locateNow), delivery, timeout, retry)
    }

    /// Makes fixes without a pause and sends them as fast as answers come, to find an animal. The collar listens every ten seconds
    /// meanwhile. It ends by itself, and with a reboot. It needs much power.
    /// - Parameters:
    ///   - duration: how long, in whole seconds, at most 65,535; zero ends an earlier one.
    ///   - delivery: whether the command may wait for the collar.
    ///   - timeout: how long this function waits.
    ///   - retry: when it is tried again.
    public func find(
        for duration: Duration, delivery: RequestDelivery = .queued, timeout: Duration = .seconds(120), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        guard let seconds = UInt16(exactly: duration.components.seconds), duration == .seconds(Int64(seconds)) else {
            throw UserFacingError(
                .badRequest, reason: "Find lasts a whole number of seconds from 0 to 65535, not \(duration).",
                remedy: "Give another time.")
        }
        try await execute(.command(.find(seconds: seconds)), delivery, timeout, retry)
    }

    /// Lets the collar tell how it spends its battery. The report comes as a line of the kind `power` with ``events(as:)``.
    public func reportPower(
        delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        try await execute(.command(.reportPower), delivery, timeout, retry)
    }

    /// Makes a sound.
    /// - Parameters:
    ///   - seconds: how long, 0.1 … 65 s.
    ///   - delivery: whether the command may wait for the collar.
    ///   - timeout: how long this function waits.
    ///   - retry: when it is tried again.
    public func sound(
        seconds: Double, delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        guard (0.1...65).contains(seconds) else {
            throw UserFacingError(.badRequest, reason: "A sound lasts from 0.1 to 65 seconds, not \(seconds).", remedy: "Give another time.")
        }
        try await execute(.command(.sound(milliseconds: UInt16(seconds * 1000))), delivery, timeout, retry)
    }

    /// Lets the collar track, also after a reboot.
    public func turnTrackingOn(
        delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        try await execute(.command(.startTracking), delivery, timeout, retry)
    }

    /// Lets the collar rest: it makes no more fixes, also after a reboot.
    public func turnTrackingOff(
        delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        try await execute(.command(.stopTracking), delivery, timeout, retry)
    }

    /// Restarts the collar.
    public func reboot(
        delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        try await execute(.command(.reboot), delivery, timeout, retry)
    }

    /// Reads the settings that are in force at the collar.
    public func settings(
        delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) -> VersionedSettings {
        let line = try await execute(.settingsRequest, delivery, timeout, retry)
        let values = line.settings.compactMap { setting in SettingKey(rawValue: setting.key).map { ($0, setting.value) } }
        return VersionedSettings(
            values: Dictionary(values, uniquingKeysWith: { $1 }), version: line.settingsVersion ?? .defaults)
    }

    /// Changes settings of the collar, all at once.
    ///
    ///     try await collar.set([.heartbeatSeconds: 30, .intervalMilliseconds: 10_000])
    ///
    /// The receiver gives the change a version above all that it knows. If another receiver has given a higher one meanwhile, nothing changes,
    /// and the error says so: read ``settings(delivery:timeout:retry:)`` first, so that the receiver knows it.
    /// - Parameters:
    ///   - settings: one to five settings, each within the range of its key.
    ///   - delivery: whether the change may wait for the collar.
    ///   - timeout: how long this function waits.
    ///   - retry: when it is tried again.
    /// - Returns: the version of the settings that are in force now.
    @discardableResult
    public func set(
        _ settings: [SettingKey: UInt32], delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) -> SettingsVersion {
        guard (1...HostRequest.settingLimit).contains(settings.count) else {
            throw UserFacingError(
                .badRequest, reason: "One change has 1 to \(HostRequest.settingLimit) settings, not \(settings.count).",
                remedy: "Send the others with another change.")
        }
        var list = SettingList()
        for (key, value) in settings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard key.accepts(value) else {
                throw UserFacingError(
                    .badRequest, reason: "The setting \(key.name) takes a whole number from \(key.rangeText), not \(value).",
                    remedy: "The setting means: \(key.meaning).")
            }
            list.append(Setting(key: key.rawValue, value: value))
        }
        return try await execute(.settingsUpdate(version: .defaults, list), delivery, timeout, retry).settingsVersion ?? .defaults
    }

    @discardableResult
    private func execute(
        _ request: HostRequest, _ delivery: RequestDelivery, _ timeout: Duration, _ retry: RetryPolicy
    ) async throws(UserFacingError) -> ResultLine {
        do throws(RequestFailure) {
            return try await RequestSession(self, delivery, timeout: timeout, retry).result(of: request)
        } catch { throw error.error }
    }
}
