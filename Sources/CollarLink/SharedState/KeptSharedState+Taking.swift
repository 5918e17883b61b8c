import CollarJournal
import CollarWire

/// The receiver that shares a state, and its rule for conflicts.
struct StateSharing: Sendable {
    let receiverID: UInt32
    let rule: StateRule

    /// The origin of the versions that this host gives.
    var origin: UInt32 { receiverID & 0xF_FFFF }
}

extension KeptSharedState {
    /// The longest time for which the receiver keeps a request, in milliseconds. A change that is older is not sent any more.
    private static let longestWait: UInt64 = 604_800_000

    /// Takes a state that the collar tells.
    /// - Parameter time: the time in milliseconds since 1970.
    /// - Returns: the state that must be sent to the collar, so that it counts there too; nil if nothing must be sent.
    mutating func take(_ remote: SharedStateMessage, in sharing: StateSharing, at time: Int64) -> SharedStateMessage? {
        let known = confirmed?.version ?? .defaults
        // States arrive late, twice and in any order.
        guard remote.version > known, remote.version.isPlausible(after: known) else { return nil }
        confirmed = remote
        guard let local = pending else { return nil }
        // An older change of this host was on its way when it made the newer one.
        if remote.version.origin == sharing.origin, remote.version < local.version { return nil }
        pending = nil
        switch resolve(local: local, remote: remote, resolution: sharing.rule) {
        case .same: return nil
        case .local:
            guard local.version < remote.version else {
                // It wins at the collar, too, as soon as it arrives there.
                pending = local
                return nil
            }
            return change(to: local.bytes, in: sharing, at: time)
        case .remote: return local.version < remote.version ? nil : change(to: remote.bytes, above: local.version, in: sharing, at: time)
        case .merged(let bytes): return change(to: bytes, above: local.version, in: sharing, at: time)
        }
    }

    /// Notes a change of this host.
    /// - Parameter version: the version of a former change that may still reach the collar.
    /// - Returns: the change, to be sent to the collar; nil, with nothing changed, if it is too long or there is no higher version.
    mutating func change(
        to bytes: [UInt8], above version: SettingsVersion = .defaults, in sharing: StateSharing, at time: Int64
    ) -> SharedStateMessage? {
        guard let next = SettingsVersion(after: max(highestVersion, version), unixMilliseconds: time, receiverID: sharing.receiverID),
            let changed = SharedStateMessage(version: next, state: bytes.span)
        else { return nil }
        pending = changed
        return changed
    }

    /// Forgets a change that will not reach the collar any more.
    mutating func dropPending(_ change: SharedStateMessage) { if pending == change { pending = nil } }

    /// Forgets a change that is too old to be still in the queue of the receiver.
    mutating func dropOldPending(at time: Int64) {
        if let pending, pending.version.number + Self.longestWait < UInt64(clamping: time) { self.pending = nil }
    }
}
