/// Why a collar has no current and accurate position, although the collar is heard.
package enum PositionProblem: Equatable, Sendable {
    /// The collar logs no positions.
    case trackingOff
    /// The GNSS receiver is switched off.
    case gnssOff
    /// The GNSS receiver does not answer, or reports a fault.
    case gnssFault
    /// An intact frame came in, but the content of its fix is impossible.
    case undecodable
    /// The collar has been heard for this many seconds, and has sent no fix in this run.
    case noFix(seconds: Int)
    /// The newest fix came this many seconds ago.
    case stale(seconds: Int)
    /// The newest fix has this accuracy in meters: a radius above 50 m.
    case poorAccuracy(meters: Int)
}
