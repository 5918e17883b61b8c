import CollarWire

/// Which state counts after a conflict: this host has changed the state, the collar has not confirmed that, and a change of the collar or
/// of another receiver comes.
///
/// A change of the state has a version: the time at which it was made and who made it. At the collar the highest version wins; if another
/// state is to count here, this host sends that again with a higher version.
public struct StateResolution<State: Sendable>: Sendable {
    let rule: StateRule

    /// The change that was made last, by the clocks of those who made them; at the same time, that of the collar.
    public static var latest: StateResolution { StateResolution(rule: .latest) }
    /// The change that was made first; at the same time, that of the collar.
    public static var earliest: StateResolution { StateResolution(rule: .earliest) }
    /// The change of this host.
    public static var host: StateResolution { StateResolution(rule: .host) }
    /// The change that the collar tells.
    public static var collar: StateResolution { StateResolution(rule: .collar) }
    /// The change with the highest version, as at the collar; so nothing is sent again. At the same time, the id of the receiver decides.
    public static var highestSequence: StateResolution { StateResolution(rule: .highestSequence) }
}

extension StateResolution where State: MessagePayload {
    /// A state that is made of both. If one of them cannot be read, or the new one is too long, the highest version wins.
    public static func merge(_ combine: @escaping @Sendable (_ local: State, _ remote: State) -> State) -> StateResolution {
        StateResolution(
            rule: .merge { local, remote in
                guard let ours = try? State(payload: local), let theirs = try? State(payload: remote) else { return nil }
                return combine(ours, theirs).payload
            })
    }
}

/// ``StateResolution`` for the bytes of states.
enum StateRule: Sendable {
    case latest, earliest, host, collar, highestSequence
    case merge(@Sendable (_ local: [UInt8], _ remote: [UInt8]) -> [UInt8]?)
}

/// What counts after a conflict.
enum ResolvedState: Equatable {
    /// Both are the same change.
    case same
    case local, remote
    case merged([UInt8])
}

/// Decides a conflict.
/// - Parameters:
///   - local: the change of this host, which the collar has not confirmed.
///   - remote: the state that the collar tells.
func resolve(local: SharedStateMessage, remote: SharedStateMessage, resolution: StateRule) -> ResolvedState {
    if local == remote { return .same }
    switch resolution {
    case .latest: return local.version.number > remote.version.number ? .local : .remote
    case .earliest: return local.version.number < remote.version.number ? .local : .remote
    case .host: return .local
    case .collar: return .remote
    case .highestSequence: break
    case .merge(let combine):
        if let merged = combine(local.bytes, remote.bytes), merged.count <= SharedStateMessage.stateLimit { return .merged(merged) }
    }
    return local.version > remote.version ? .local : .remote
}

extension SharedStateMessage {
    var bytes: [UInt8] { state.indices.map { state[$0] } }
}
