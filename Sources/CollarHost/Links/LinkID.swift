/// A link of a ``Host``: a radio's port, open or not.
public struct LinkID: Hashable, Sendable {
    let index: Int
}
