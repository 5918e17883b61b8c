/// A collar that a ``Host`` serves.
public struct SessionID: Hashable, Sendable {
    let index: Int
}
