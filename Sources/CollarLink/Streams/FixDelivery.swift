/// Which of the fixes a program gets that is slower than the collar, and where it begins.
public struct FixDelivery: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case latestOnly
        case buffered(limit: Int)
        case everything(reader: String?)
    }

    let kind: Kind

    /// The newest fix, then each time the newest one of those that came meanwhile. Fixes that arrive late are left out.
    public static let latestOnly = FixDelivery(kind: .latestOnly)

    /// The fixes that arrive from now on, as they arrive. If more than `limit` of them wait, the oldest ones are left out.
    /// - Parameter limit: at least 1.
    public static func buffered(limit: Int = 100) -> FixDelivery { FixDelivery(kind: .buffered(limit: max(1, limit))) }

    /// Everything in the journals, from the oldest entry on, then what arrives. Nothing is left out, however slow the program is.
    public static let everything = FixDelivery(kind: .everything(reader: nil))

    /// Everything in the journals, and after a restart of the program everything that it has not taken yet.
    ///
    /// The position of the reader is kept in the state directory, as that of `collar-link follow --as NAME`. It moves past an element when
    /// the program asks for the next one. It is durable a second later, so that some elements come again after a crash, with the same ids.
    /// - Parameter reader: the name of the reader: 1 to 64 letters, digits, ".", "_" or "-", beginning with a letter or a digit.
    public static func everything(as reader: String) -> FixDelivery { FixDelivery(kind: .everything(reader: reader)) }
}
