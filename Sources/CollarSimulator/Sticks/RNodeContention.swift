import CollarARQ
import RadioModems

/// How RNode firmware listens before it talks: the channel must be free for two slots, and then for a number of slots that was
/// drawn. While the channel is busy, the rest of these slots waits. (H: that it waits rather than begins anew.)
struct RNodeContention: Sendable {
    private static let fixedSlots: Int64 = 2

    private let slotMicroseconds: Int64
    private var slots: Int64
    private var freeSince: Instant?
    private var nextLook = Instant.never

    init(slotMicroseconds: Int64, slots: Int64) {
        self.slotMicroseconds = slotMicroseconds
        self.slots = slots
    }

    /// A slot is twelve symbols, but 24 … 100 ms.
    static func slotMicroseconds(of settings: RadioSettings) -> Int64 {
        (12 * settings.symbolMicroseconds).clamped(to: 24_000...100_000)
    }

    /// Whether the channel is free, and slots pass.
    var isCounting: Bool { freeSince != nil }

    /// When the packet goes on the air if the channel stays free; while it is busy, when to look at it again.
    var end: Instant {
        guard let freeSince else { return nextLook }
        return freeSince.advanced(byMicroseconds: (Self.fixedSlots + slots) * slotMicroseconds)
    }

    /// Notes whether the channel is free.
    mutating func note(isFree: Bool, now: Instant) {
        if isFree {
            freeSince = freeSince ?? now
        } else if let since = freeSince {
            let passed = now.microseconds(since: since) / slotMicroseconds - Self.fixedSlots
            slots -= passed.clamped(to: 0...slots)
            freeSince = nil
        }
        nextLook = .never
    }

    /// Looks at the channel again at a time, while it is busy.
    mutating func lookAgain(at time: Instant) { nextLook = time }
}
