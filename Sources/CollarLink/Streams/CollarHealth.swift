/// How reliably a collar answers.
public enum CollarHealth: String, CaseIterable, Sendable {
    /// The last expected answer has come.
    case healthy
    /// Three expected answers in a row did not come.
    case degraded
    /// Ten expected answers in a row did not come.
    case unhealthy

    /// The state in a word, for a person.
    public var title: String {
        switch self {
        case .healthy: "Healthy"
        case .degraded: "Degraded"
        case .unhealthy: "Unhealthy"
        }
    }

    /// A step that the person can take; nil unless the link is unhealthy.
    public var remedy: String? { error?.remedy }

    /// The state as an error; nil unless the link is unhealthy.
    public var error: UserFacingError? {
        guard self == .unhealthy else { return nil }
        return UserFacingError(
            .linkUnhealthy, reason: "Ten expected answers of the collar in a row did not come.",
            remedy: "Charge the collar, bring it closer to the radio, or move the radio: the higher, the better.")
    }
}

extension Collar {
    /// How reliably the collar answers: the present state, which one answer makes healthy, then each change. Of several collars it is the
    /// worst.
    ///
    /// The states come from the event log of the receiver, and a collar without events is healthy. While no receiver runs, the last state
    /// stays: ``connection`` says that.
    public var health: StateStream<CollarHealth> {
        StateStream { [self] in
            let reading = links
            let number = reading.beginIteration()
            return { () async throws(UserFacingError) -> CollarHealth? in
                guard let history = try await reading.next(inIteration: number) else { return nil }
                return history.health(of: try await reading.wanted(), at: access.time.unixMilliseconds)
            }
        }
    }
}
