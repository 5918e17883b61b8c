import CollarControl
import CollarFormats
import CollarWire

/// Within what time a collar hears a request, as far as the receiver knows. A collar listens after each fix that it sends, and at the
/// latest after one heartbeat.
struct FindReach: Equatable {
    /// nil if it is not known.
    let seconds: Int64?

    /// - Parameter figures: what the receiver knows of the collar.
    init(_ figures: [CollarFigure: Int64]) {
        let heartbeat = figures[.heartbeat]
        // A search that fails sends nothing.
        let isSearching = (figures[.failuresInRow] ?? 0) > 0
        let interval = isSearching ? nil : figures[.fixInterval].map { ($0 + 999) / 1000 }
        seconds = [heartbeat, interval].compactMap { $0 }.min()
    }

    /// The sentence for a person.
    /// - Parameter subject: the collar.
    func text(for subject: String) -> String {
        guard let seconds else {
            return "It is not known yet within what time a request reaches \(subject): its heartbeat has not come in."
        }
        return "The request reaches \(subject) within \(FindReach.durationText(seconds)) if it is in range."
    }

    /// A time is never shown shorter than it is.
    private static func durationText(_ seconds: Int64) -> String {
        let unit: Int64 = seconds < 120 ? 1 : seconds < 7200 ? 60 : 3600
        return CollarFormats.durationText(milliseconds: (seconds + unit - 1) / unit * unit * 1000)
    }
}
