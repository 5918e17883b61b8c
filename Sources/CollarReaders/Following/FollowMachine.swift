import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import LinuxSystem

/// Decides when a follower writes lines, which of them its consumer has, when the position is stored, and when it ends.
///
/// It has no clock and does no I/O: inputs carry the time, and the owner does what the outputs say, in their order.
///
///     machine.turn()
///     while let output = machine.nextOutput() { … }
///
/// Then it waits for ``nextDeadline`` or an event, and begins again. Inputs that return receipts have found that the consumer has the
/// items: the owner confirms them.
package struct FollowMachine {
    package enum Output: Equatable, Sendable {
        /// Queue lines while there is room, tell each with ``queued(_:at:)``, write them, and answer with ``wrote(_:at:)``.
        case writeLines
        /// Answer with ``read(_:)``. `isLast`: nothing more will be written.
        case findRead(isLast: Bool)
        /// Tell with ``outputHasRoom()`` when the consumer reads again.
        case watchOutput
        case forgetOutput
        case forgetInput
        /// Answer with ``documentEnded(_:)``.
        case endDocument
        /// Report the fixes that the format has left out.
        case reportLeftOut
        /// Store the position, after the lines before it, and answer with ``stored(_:hasUnread:at:)``. `isSeen`: also if it is the same.
        case storePosition(isSeen: Bool)
        case notice(FollowerNotice)
        case fail(ReaderError)
    }

    private enum State {
        /// All lines that are there are written.
        case idle
        /// The owner writes lines.
        case writing
        /// More lines wait.
        case paused
        case heldUp(HeldUp)
        case blocked
        /// All lines up to the limit are written, and the consumer acknowledges them.
        case atLimit
        case ending(Ending)
        case finishing
    }

    /// A terminal has not taken the last lines.
    private struct HeldUp {
        /// When to look again.
        let due: Instant
    }

    /// A signal came, the time is over, or the consumer acknowledges no more.
    private struct Ending {
        var isOutputBlocked: Bool
    }

    /// The position has changed and is not stored.
    private struct Unstored {
        var due: Instant
        /// Time between the change, or the last storing, and the next storing, in microseconds.
        var interval = FollowMachine.storeInterval
    }

    /// The lines that wait for an acknowledgement by id, and the ids that came in part.
    private struct Acknowledgements {
        var confirmations = Confirmations()
        var ids = AcknowledgedIDs()
    }

    /// Time between the writing of a line and the storing of the position, in microseconds.
    static let storeInterval: Int64 = 1_000_000
    /// The longest wait for a consumer that does not read the last lines, in microseconds. After it, the position is stored with the
    /// next lines, or at the end.
    static let longestStoreInterval: Int64 = 64_000_000

    private let isNamed: Bool
    private let endsAt: Instant?
    private var state = State.idle
    private var outputs: ArraySlice<Output> = []
    /// The receipts of the items that the consumer has not read, oldest first.
    private var receipts: [StoredReceipt] = []
    /// Nil if the consumer has a line once it has read it.
    private var acknowledgements: Acknowledgements?
    private var unstored: Unstored?

    /// - Parameters:
    ///   - isNamed: whether a position is kept.
    ///   - isAcknowledged: whether the consumer acknowledges lines by their ids.
    ///   - endsAt: when to end; nil for no limit.
    package init(isNamed: Bool, isAcknowledged: Bool, endsAt: Instant?) {
        self.isNamed = isNamed
        self.endsAt = endsAt
        if isAcknowledged { acknowledgements = Acknowledgements() }
    }

    package mutating func nextOutput() -> Output? { outputs.popFirst() }

    /// Whether nothing is left to do once no output waits.
    package var isFinished: Bool { if case .finishing = state { true } else { false } }
    package var hasMoreLines: Bool { if case .paused = state { true } else { false } }
    /// Whether further lines may be queued. If not, the next acknowledgement makes room.
    package var hasRoom: Bool { acknowledgements?.confirmations.hasRoom ?? true }

    /// When ``deadlineReached(at:)`` or the next turn is due; nil if no time is set.
    package var nextDeadline: Instant? {
        var due = Instant.earliest(unstored?.due, endsAt)
        if case .heldUp(let heldUp) = state { due = Instant.earliest(due, heldUp.due) }
        return due
    }

    /// The next turn of the loop begins.
    package mutating func turn() {
        switch state {
        case .idle, .paused, .heldUp, .atLimit:
            state = .writing
            outputs.append(.writeLines)
        case .ending(let ending): finish(writesEnd: !ending.isOutputBlocked)
        case .writing, .blocked, .finishing: break
        }
    }

    // MARK: Lines

    /// An item was queued.
    package mutating func queued(_ item: StoredItem, at now: Instant) -> [StoredReceipt] {
        if case .owner = item {} else { noteUnstored(at: now) }
        switch item {
        case .entry(let entry, let isWanted):
            receipts.append(.entry(entry.receipt, hasID: !isWanted || entry.id != nil))
            return FollowMachine.receipts(
                acknowledgements?.confirmations.add(entry.receipt, isWanted ? entry.id.map { .id($0) } ?? .withoutID : .unwritten))
        case .event(let line, _): receipts.append(.event(line.end))
        case .alert(let alert): receipts.append(.alert(alert.id))
        case .owner: receipts.append(.owner)
        }
        return []
    }

    /// Lines were written as far as that was possible.
    package mutating func wrote(_ progress: LineProgress, at now: Instant) {
        switch progress {
        case .drained: state = .idle
        case .paused: state = .paused
        case .heldUp: state = .heldUp(HeldUp(due: now.advanced(byMicroseconds: LineOutput.heldUpInterval)))
        case .blocked:
            state = .blocked
            outputs.append(.watchOutput)
        case .limitReached where acknowledgements == nil: finish(writesEnd: true)
        case .limitReached:
            state = .atLimit
            outputs.append(.findRead(isLast: false))
        case .closed: finish(writesEnd: false)
        case .failed(let errorNumber): outputs.append(.fail(.output(errorNumber: errorNumber)))
        }
    }

    package mutating func outputHasRoom() {
        switch state {
        case .blocked: state = .idle
        case .ending: state = .ending(Ending(isOutputBlocked: false))
        case .idle, .writing, .paused, .heldUp, .atLimit, .finishing: return
        }
        outputs.append(.forgetOutput)
    }

    // MARK: Read and acknowledged lines

    /// The consumer has read the lines of `count` further items. If it acknowledges lines, only lines without an id count as confirmed.
    package mutating func read(_ count: Int) -> [StoredReceipt] {
        defer { receipts.removeFirst(count) }
        guard acknowledgements != nil else { return Array(receipts[..<count]) }
        var all: [StoredReceipt] = []
        for receipt in receipts[..<count] {
            switch receipt {
            case .event, .alert, .owner: all.append(receipt)
            case .entry(let entry, hasID: false): all += FollowMachine.receipts(acknowledgements?.confirmations.noteRead(of: entry.session))
            case .entry(_, hasID: true): break
            }
        }
        if case .atLimit = state, acknowledgements?.confirmations.count == 0 { finish(writesEnd: true) }
        return all
    }

    /// The consumer has written bytes.
    package mutating func inputCame(_ bytes: [UInt8], at now: Instant) -> [StoredReceipt] {
        var all: [StoredReceipt] = []
        for line in acknowledgements?.ids.lines(endingIn: bytes) ?? [] {
            switch line {
            case .id(let id):
                guard let receipts = acknowledgements?.confirmations.confirm(id) else {
                    outputs.append(.notice(.notAnID(id.text)))
                    continue
                }
                all += FollowMachine.receipts(receipts)
                noteUnstored(at: now)
            case .other(let text): outputs.append(.notice(.notAnID(text)))
            }
        }
        return all
    }

    private static func receipts(_ receipts: [EmissionReceipt]?) -> [StoredReceipt] { (receipts ?? []).map { .entry($0, hasID: true) } }

    // MARK: Position

    private mutating func noteUnstored(at now: Instant) {
        guard isNamed else { return }
        unstored = Unstored(due: unstored?.due ?? now.advanced(byMicroseconds: FollowMachine.storeInterval))
    }

    /// The position was stored, as far as that was possible.
    /// - Parameter hasUnread: whether lines are written that the consumer may not have read.
    package mutating func stored(_ isStored: Bool, hasUnread: Bool, at now: Instant) {
        guard var unstored, !isStored || hasUnread, unstored.interval < FollowMachine.longestStoreInterval else {
            self.unstored = nil
            return
        }
        unstored.interval *= 2
        unstored.due = now.advanced(byMicroseconds: unstored.interval)
        self.unstored = unstored
    }

    // MARK: Time and end

    package mutating func deadlineReached(at now: Instant) {
        if let endsAt, now >= endsAt { end() }
        guard let unstored, now >= unstored.due else { return }
        outputs += [.findRead(isLast: false), .storePosition(isSeen: false)]
    }

    package mutating func inputEnded() {
        outputs.append(.forgetInput)
        end()
    }

    /// Ends the follower with the next turn.
    package mutating func end() {
        switch state {
        case .idle, .writing, .paused, .heldUp, .atLimit: state = .ending(Ending(isOutputBlocked: false))
        case .blocked: state = .ending(Ending(isOutputBlocked: true))
        case .ending, .finishing: break
        }
    }

    private mutating func finish(writesEnd: Bool) {
        state = .finishing
        if writesEnd { outputs.append(.endDocument) } else { documentEnded(.closed) }
    }

    /// The end of the document was written, as far as that was possible.
    package mutating func documentEnded(_ progress: LineProgress) {
        if case .failed(let errorNumber) = progress { return outputs.append(.fail(.output(errorNumber: errorNumber))) }
        outputs += [.reportLeftOut, .findRead(isLast: true), .storePosition(isSeen: true)]
    }
}

extension EmittedEntry {
    /// The id in the line of the entry; nil for a change of a gap, which has none.
    package var id: FixIdentifier? {
        switch content {
        case .fix(let record): FixIdentifier(deviceID: deviceID, logID: record.logID, sequence: record.fix.sequence)
        case .message(let record):
            FixIdentifier(deviceID: deviceID, logID: record.logID, sequence: record.message.sequence)
        case .gap: nil
        }
    }
}
