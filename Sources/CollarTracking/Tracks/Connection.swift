/// Whether a collar answers, as an owner sees it.
package enum Connection: String, Sendable {
    /// Its radio is open, and it was not heard yet.
    case connecting
    /// It missed three heartbeats.
    case notReachable = "not_reachable"
    case connected

    /// - Parameters:
    ///   - isListenedTo: whether a radio listens to it.
    ///   - isReachable: whether it was heard within three heartbeats; nil before it was heard.
    /// - Returns: nil where no radio listens to it.
    package init?(isListenedTo: Bool, isReachable: Bool?) {
        guard isListenedTo else { return nil }
        self = isReachable.map { $0 ? .connected : .notReachable } ?? .connecting
    }
}
