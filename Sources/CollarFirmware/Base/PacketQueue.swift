import CollarWire

/// Packets that wait in a base radio, each with a note, oldest first, in storage of fixed size.
///
/// A packet that comes while the queue is full takes the place of the oldest one. A collar repeats what is not acknowledged, and
/// a host what is not answered, so the newest packet is worth most: the answer that is awaited now is the one to the last poll.
struct PacketQueue<Note, let capacity: Int> {
    private var bytes: InlineArray<capacity, InlineArray<253, UInt8>>
    private var counts = InlineArray<capacity, UInt8>(repeating: 0)
    private var notes: InlineArray<capacity, Note>
    private var first = 0
    /// How many packets wait.
    private(set) var count = 0

    /// An empty queue.
    /// - Parameter note: fills the empty places.
    init(note: Note) {
        bytes = InlineArray(repeating: InlineArray(repeating: 0))
        notes = InlineArray(repeating: note)
    }

    /// The note of the oldest packet; nil if no packet waits.
    var firstNote: Note? { count > 0 ? notes[first] : nil }

    /// Bytes of the oldest packet; 0 if no packet waits.
    var firstByteCount: Int { count > 0 ? Int(counts[first]) : 0 }

    /// Adds a packet of at most 253 bytes.
    mutating func append(_ packet: Span<UInt8>, note: Note) {
        precondition(packet.count <= Frame.maximumByteCount, "a packet is a frame")
        if count == capacity { removeFirst() }
        let place = (first + count) % capacity
        for index in packet.indices { bytes[place][index] = packet[index] }
        counts[place] = UInt8(packet.count)
        notes[place] = note
        count += 1
    }

    /// Appends the oldest packet to `output`, which has room for it.
    func copyFirst(to output: inout OutputSpan<UInt8>) {
        for index in 0..<firstByteCount { output.append(bytes[first][index]) }
    }

    /// Removes the oldest packet, if there is one.
    mutating func removeFirst() {
        guard count > 0 else { return }
        first = (first + 1) % capacity
        count -= 1
    }
}
