/// Identifies a link of a ``Host``: a radio's port, open or not.
package struct LinkID: Hashable, Sendable {
    let index: Int
}
