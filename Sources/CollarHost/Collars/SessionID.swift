/// Identifies a collar that a ``Host`` serves.
package struct SessionID: Hashable, Sendable {
    let index: Int
}
