import CollarBridge
import CollarHost
import CollarJournal
import CollarWire

/// The lines of a consumer that acknowledges them by their ids, in any order. The position of a collar moves past a line when
/// that line and all lines of the collar before it are acknowledged.
///
/// A line without an id, such as that of a gap, counts as acknowledged with the next line of its collar that has one.
struct Confirmations {
    private struct Line {
        let receipt: EmissionReceipt
        /// Nil for a line without an id.
        let id: FixIdentifier?
        var isConfirmed = false
    }

    /// The lines of one collar that wait, oldest first; the first has the number `firstNumber`.
    private struct Queue {
        var lines: [Line] = []
        /// How many lines at the front are done.
        var start = 0
        var firstNumber = 0
    }

    /// The most lines that wait: then no more lines are written until some are acknowledged.
    static let limit = 65_536

    private var queues: [SessionID: Queue] = [:]
    private var places: [UUIDHalves: (session: SessionID, number: Int)] = [:]
    /// The number of lines that wait.
    private(set) var count = 0

    /// Whether another line may be written.
    var hasRoom: Bool { count < Confirmations.limit }

    /// A line was written.
    mutating func add(_ receipt: EmissionReceipt, id: FixIdentifier?) {
        var queue = queues.removeValue(forKey: receipt.session) ?? Queue()
        if let id { places[UUIDHalves(high: id.high, low: id.low)] = (receipt.session, queue.firstNumber + queue.lines.count - queue.start) }
        queue.lines.append(Line(receipt: receipt, id: id))
        queues[receipt.session] = queue
        count += 1
    }

    /// The consumer acknowledges a line.
    /// - Returns: the receipts that are confirmed now, oldest first; nil if no line with this id waits.
    mutating func confirm(_ id: FixIdentifier) -> [EmissionReceipt]? {
        guard let (session, number) = places.removeValue(forKey: UUIDHalves(high: id.high, low: id.low)),
            var queue = queues.removeValue(forKey: session)
        else { return nil }
        queue.lines[queue.start + number - queue.firstNumber].isConfirmed = true
        var end = queue.start
        var next = queue.start
        while next < queue.lines.count, queue.lines[next].isConfirmed || queue.lines[next].id == nil {
            next += 1
            if queue.lines[next - 1].isConfirmed { end = next }
        }
        let receipts = queue.lines[queue.start..<end].map(\.receipt)
        queue.firstNumber += receipts.count
        queue.start = end
        count -= receipts.count
        if queue.start > 1024, queue.start * 2 > queue.lines.count {
            queue.lines.removeFirst(queue.start)
            queue.start = 0
        }
        queues[session] = queue
        return receipts
    }
}
