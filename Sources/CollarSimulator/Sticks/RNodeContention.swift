import CollarARQ
import RadioModems

/// How RNode firmware listens before it talks: the channel must be free for two slots, and then for a number of slots that was
/// drawn. While the channel is busy, the rest of these slots waits.
struct RNodeContention: Sendable {
    private let timing: RNodeTiming
    private var slots: Int64
    private var freeSince: Instant?
    private var nextLook = Instant.never

    init(_ timing: RNodeTiming, slots: Int64) {
        self.timing = timing
        self.slots = slots
    }

    /// Whether the channel is free, and slots pass.
    var isCounting: Bool { freeSince != nil }

    /// When the packet goes on the air if the channel stays free; while it is busy, when to look at it again.
    var end: Instant {
        guard let freeSince else { return nextLook }
        return freeSince.advanced(byMicroseconds: timing.longestWait(slots: slots))
    }

    /// Notes whether the channel is free.
    mutating func note(isFree: Bool, now: Instant) {
        if isFree {
            freeSince = freeSince ?? now
        } else if let since = freeSince {
            let passed = (now.microseconds(since: since) - timing.fixedMicroseconds) / timing.slotMicroseconds
            slots -= passed.clamped(to: 0...slots)
            freeSince = nil
        }
        nextLook = .never
    }

    /// Looks at the channel again at a time, while it is busy.
    mutating func lookAgain(at time: Instant) { nextLook = time }
}
