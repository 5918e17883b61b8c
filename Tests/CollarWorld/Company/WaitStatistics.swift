/// The random waits of collars in company, as parts of the windows from which PROTOCOL.md lets them be drawn.
package struct WaitStatistics: Equatable, Sendable {
    /// The kinds of waits.
    package enum Kind: Int, CaseIterable, Sendable {
        /// Before a burst that does not wait for a turn.
        case burst
        /// Before the frame after the first unanswered poll.
        case firstRepeat
        /// Before the frame after a further unanswered poll.
        case laterRepeat
        /// After the channel was busy.
        case busyChannel
    }

    private var counts = Kind.allCases.map { _ in 0 }
    private var sums = Kind.allCases.map { _ in 0.0 }

    /// No waits.
    package init() {}

    /// Adds a wait.
    /// - Parameter part: the part of its window, 0 … 1.
    mutating func add(_ part: Double, _ kind: Kind) {
        counts[kind.rawValue] += 1
        sums[kind.rawValue] += part
    }

    /// Adds the waits of another run.
    package mutating func add(_ other: WaitStatistics) {
        for kind in Kind.allCases.map(\.rawValue) {
            counts[kind] += other.counts[kind]
            sums[kind] += other.sums[kind]
        }
    }

    /// The number of waits of a kind.
    package func count(of kind: Kind) -> Int { counts[kind.rawValue] }

    /// How the waits differ from evenly distributed ones; nil if they do not. The mean of n parts has the standard deviation
    /// 1 / √(12 n); seven of them are once in 400 thousand million. An event that ends a wait is a little likelier in a long one.
    package var deviation: String? {
        for kind in Kind.allCases where counts[kind.rawValue] >= 30 {
            let count = Double(counts[kind.rawValue])
            let mean = sums[kind.rawValue] / count
            if (mean - 0.5).magnitude > 0.02 + 7 / (12 * count).squareRoot() {
                return "\(counts[kind.rawValue]) waits (\(kind)) are \(mean) of their windows on average"
            }
        }
        return nil
    }
}
