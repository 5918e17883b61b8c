import CollarFormats
import CollarJournal
import CollarWire

/// The lines of a consumer that acknowledges them by their ids, in any order. The position of a collar moves past a line when
/// that line and all lines of the collar before it are confirmed.
///
/// A line without an id, such as that of a gap, is confirmed when it was read; an entry without a line at once.
package struct Confirmations {
    package enum Kind: Equatable {
        /// A line with an id, which the consumer acknowledges.
        case id(FixIdentifier)
        case withoutID
        case unwritten
    }

    private struct Line {
        package let receipt: EmissionReceipt
        package let kind: Kind
        package var isConfirmed: Bool
    }

    /// The lines of one session that wait, oldest first. Numbers count all lines of the session.
    private struct Queue {
        private var lines: [Line] = []
        /// How many lines at the front of `lines` are done.
        private var start = 0
        private var firstNumber = 0
        /// No line with a lower number waits to be read.
        private var firstUnread = 0

        package var count: Int { lines.count - start }
        package var nextNumber: Int { firstNumber + count }
        package var ids: [FixIdentifier] { lines[start...].compactMap { if case .id(let id) = $0.kind { id } else { nil } } }

        package mutating func append(_ line: Line) { lines.append(line) }

        package mutating func confirm(number: Int) { lines[start + number - firstNumber].isConfirmed = true }

        /// Confirms the oldest line without an id that was not confirmed.
        package mutating func confirmWithoutID() {
            firstUnread = max(firstUnread, firstNumber)
            while firstUnread < nextNumber {
                let index = start + firstUnread - firstNumber
                firstUnread += 1
                guard lines[index].kind == .withoutID, !lines[index].isConfirmed else { continue }
                lines[index].isConfirmed = true
                return
            }
        }

        package mutating func takeConfirmed() -> [EmissionReceipt] {
            let end = lines[start...].firstIndex { !$0.isConfirmed } ?? lines.count
            let receipts = lines[start..<end].map(\.receipt)
            firstNumber += receipts.count
            start = end
            if start > 1024, start * 2 > lines.count {
                lines.removeFirst(start)
                start = 0
            }
            return receipts
        }
    }

    /// The most lines that wait: then no more lines are written until some are confirmed.
    package static let limit = 65_536

    private var queues: [SessionID: Queue] = [:]
    private var places: [UUIDHalves: (session: SessionID, number: Int)] = [:]
    package private(set) var count = 0

    package var hasRoom: Bool { count < Confirmations.limit }

    /// An entry was handed out.
    /// - Returns: the receipts that are confirmed now, oldest first.
    package mutating func add(_ receipt: EmissionReceipt, _ kind: Kind) -> [EmissionReceipt] {
        if case .id(let id) = kind {
            let key = UUIDHalves(high: id.high, low: id.low)
            // The journal was cut or restored, and its lines come again in another session: the former one ends.
            if let place = places[key], place.session != receipt.session { drop(place.session) }
            places[key] = (receipt.session, queues[receipt.session]?.nextNumber ?? 0)
        }
        count += 1
        return change(receipt.session) { $0.append(Line(receipt: receipt, kind: kind, isConfirmed: kind == .unwritten)) }
    }

    /// The consumer acknowledges a line.
    /// - Returns: the receipts that are confirmed now, oldest first; nil if no line with this id waits.
    package mutating func confirm(_ id: FixIdentifier) -> [EmissionReceipt]? {
        guard let (session, number) = places.removeValue(forKey: UUIDHalves(high: id.high, low: id.low)) else { return nil }
        return change(session) { $0.confirm(number: number) }
    }

    /// The oldest line without an id of a session was read.
    /// - Returns: the receipts that are confirmed now, oldest first.
    package mutating func noteRead(of session: SessionID) -> [EmissionReceipt] { change(session) { $0.confirmWithoutID() } }

    private mutating func change(_ session: SessionID, _ body: (inout Queue) -> Void) -> [EmissionReceipt] {
        // The queue is taken out, so that it is not copied.
        var queue = queues.removeValue(forKey: session) ?? Queue()
        body(&queue)
        let receipts = queue.takeConfirmed()
        count -= receipts.count
        queues[session] = queue
        return receipts
    }

    private mutating func drop(_ session: SessionID) {
        guard let queue = queues.removeValue(forKey: session) else { return }
        count -= queue.count
        for id in queue.ids { places[UUIDHalves(high: id.high, low: id.low)] = nil }
    }
}

/// The ids that a consumer writes, one on each line.
package struct AcknowledgedIDs {
    package enum Line: Equatable {
        case id(FixIdentifier)
        case other(String)
    }

    /// The beginning of a line whose end has not come.
    private var buffer: [UInt8] = []
    /// A longer line is no id.
    private static let lineLimit = 4096

    package init() {}

    /// The lines that are complete with these bytes.
    package mutating func lines(endingIn bytes: [UInt8]) -> [Line] {
        buffer += bytes
        var lines: [Line] = []
        var start = 0
        while let feed = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if let line = AcknowledgedIDs.line(buffer[start..<feed]) { lines.append(line) }
            start = feed + 1
        }
        buffer.removeFirst(start)
        if buffer.count > AcknowledgedIDs.lineLimit { buffer.removeAll() }
        return lines
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        // jq without -r writes quotes.
        let text = String(decoding: bytes, as: UTF8.self).trimmed.filter { $0 != "\"" && $0 != "\r" }
        if text.isEmpty { return nil }
        if let fix = UUIDHalves(text).flatMap({ FixIdentifier(high: $0.high, low: $0.low) }) { return .id(fix) }
        return .other(text)
    }
}
