/// Identifies a collar that a ``Host`` serves.
package struct SessionID: Hashable, Sendable {
    package let index: Int

    package init(index: Int) {
        self.index = index
    }
}
