import CollarARQ
import CollarWire

/// One entry on its way to the consumer.
package struct EmittedEntry: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case fix(JournaledFix)
        case message(JournaledMessage)
        case gap(GapChange)
    }

    package var content: Content
    package var deviceID: DeviceID
    /// The receipt to pass to ``Host/emitted(_:)`` after the consumer has received the entry.
    package var receipt: EmissionReceipt
    /// Whether the entry is held back and only announced: it comes once more when it is due.
    package var isHeld = false

    package init(content: Content, deviceID: DeviceID, receipt: EmissionReceipt, isHeld: Bool = false) {
        self.content = content
        self.deviceID = deviceID
        self.receipt = receipt
        self.isHeld = isHeld
    }
}

/// Tells the host which entry the consumer has.
package struct EmissionReceipt: Equatable, Sendable {
    package let session: SessionID
    /// The position before which all of the journal is emitted once the consumer has the entry; nil if the entry does not
    /// move that position.
    package let through: JournalPosition?

    package init(session: SessionID, through: JournalPosition?) {
        self.session = session
        self.through = through
    }
}

/// Identifies a collar that a ``Host`` serves.
package struct SessionID: Hashable, Sendable {
    package let index: Int

    package init(index: Int) { self.index = index }
}

package struct EntrySelection: Equatable, Sendable {
    package var hasFixes = true
    package var hasGaps = false
    package var hasMessages = false
    /// Whether a fix is held back until all fixes before it in its log are emitted or will never come.
    package var isSorted = false
    /// Whether a fix that is held back is announced when it comes.
    package var announcesHeldFixes = false
    /// Whether the consumer's position moves although it gets no fixes.
    package var movesWithoutFixes = false

    /// A selection of fixes alone, in the order of their arrival.
    package init() {}

    package var isEmpty: Bool { !hasFixes && !hasGaps && !hasMessages }

    package var movesPosition: Bool { hasFixes || movesWithoutFixes }
}

package enum EmissionStart: Equatable, Sendable {
    /// After the last entry that the previous run emitted.
    case whereItStopped
    /// At the oldest entry of the journals.
    case all
    /// At the first entry received at this time or later; the time is in milliseconds since 1970 by the host's clock.
    case since(unixMilliseconds: Int64)
    /// After this fix, in the order in which fixes were stored. For other collars, emission begins where it stopped.
    case after(FixIdentifier)
}

extension Instant {
    /// The earlier of two deadlines, of which each may be missing.
    package static func earliest(_ first: Instant?, _ second: Instant?) -> Instant? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}

/// The two clocks of a host at one moment. ``Host`` has no clock: every input carries the time.
package struct HostTime: Equatable, Sendable {
    /// A clock that never goes back: deadlines and rates are measured with it.
    package var instant: Instant
    /// The time of day in milliseconds since 1970, which records and lines carry. It may jump.
    package var unixMilliseconds: Int64

    package init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }
}
