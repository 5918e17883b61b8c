/// The events of virtual time, the earliest first. Events that are due at the same time keep the order in which they were
/// added.
struct EventQueue<Event> {
    private struct Entry {
        let due: Int64
        let order: Int
        let event: Event
    }

    private var heap: [Entry] = []
    private var order = 0

    /// When the earliest event is due, in microseconds; nil if the queue is empty.
    var nextDue: Int64? { heap.first?.due }

    mutating func add(_ event: Event, at due: Int64) {
        order += 1
        heap.append(Entry(due: due, order: order, event: event))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func takeFirst() -> (due: Int64, event: Event)? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            if least == parent { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return (first.due, first.event)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].due, heap[left].order) < (heap[right].due, heap[right].order)
    }
}
