/// Keeps newest fixes within a quarter of the airtime while there is a backlog.
struct LiveShare: Equatable, Sendable {
    /// Airtime of live frames times three, less that of the backlog, in microseconds.
    private var balance: Int64 = 0
    /// Whether the frame that is sent next carries the newest fix.
    var isLive = false

    /// Silence is not saved up: a backlog that was long does not earn hours of live fixes.
    private static let bound: Int64 = 60_000_000

    var allowsLive: Bool { balance <= 0 }

    mutating func sent(airtimeMicroseconds: Int64) {
        balance += isLive ? 3 * airtimeMicroseconds : -airtimeMicroseconds
        balance = min(max(balance, -LiveShare.bound), LiveShare.bound)
    }
}
