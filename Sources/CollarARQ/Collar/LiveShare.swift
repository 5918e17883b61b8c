/// Limits the frames that carry the newest fix to a quarter of the airtime while there is a backlog.
struct LiveShare: Equatable, Sendable {
    /// Three times the airtime of frames with the newest fix, minus the airtime of other frames, in microseconds.
    private var balance: Int64 = 0
    /// Whether the frame that is sent next carries the newest fix.
    var isLive = false

    /// The most that the balance may differ from 0, in microseconds. Without this bound, frames with the newest fix could
    /// use all the airtime for a long time if there were few of them before.
    private static let bound: Int64 = 60_000_000

    var allowsLive: Bool { balance <= 0 }

    mutating func sent(airtimeMicroseconds: Int64) {
        balance += isLive ? 3 * airtimeMicroseconds : -airtimeMicroseconds
        balance = min(max(balance, -LiveShare.bound), LiveShare.bound)
    }
}
