import CollarARQ
import CollarWire

/// The links on which a collar is heard.
struct CollarLinks {
    /// An answer waits for other links if several have heard the collar within this time, in microseconds. A host with many
    /// radios, of which one hears the collar, answers at once.
    private static let sharedTime: Int64 = 600_000_000

    /// The link on which the collar was heard last; nil before it was heard.
    private(set) var last: LinkID?
    /// When a frame came in on another link than the one before it; nil if that has not happened.
    private var lastChange: Instant?
    /// The signal strength of the collar's last frame at each link, in dBm, if the base radio reports it.
    private(set) var strengths: [LinkID: Int16] = [:]

    /// A frame of the collar came in.
    mutating func noteFrame(on link: LinkID, signal: RadioSignal?, at now: Instant) {
        noteSignal(signal, on: link)
        guard last != link else { return }
        if last != nil { lastChange = now }
        last = link
    }

    /// A copy of an earlier frame came in.
    mutating func noteSignal(_ signal: RadioSignal?, on link: LinkID) {
        if let strength = signal?.strengthDBm { strengths[link] = strength }
    }

    /// Whether several links heard the collar lately.
    func areSeveral(at now: Instant) -> Bool {
        lastChange.map { now.microseconds(since: $0) < CollarLinks.sharedTime } ?? false
    }

    /// A link was closed.
    mutating func close(_ closed: LinkID) { strengths[closed] = nil }
}
