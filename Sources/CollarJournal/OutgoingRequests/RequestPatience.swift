/// How long a request may wait for its collar.
package enum RequestPatience: Equatable, Sendable {
    /// Until the collar is heard, but at most a week, also across restarts.
    case untilHeard
    /// As ``untilHeard``. The request replaces earlier requests of the same kind that were never sent.
    case latest
    /// At most this many milliseconds. The request is refused if the collar is not in contact.
    case now(milliseconds: Int64)
}
