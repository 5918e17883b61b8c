import CollarWire

/// Packets that wait in a base radio, each with a note, oldest first, in storage of fixed size.
///
/// A packet that comes while the queue is full takes the place of the oldest one. A collar repeats what is not acknowledged, and
/// a host what is not answered, so the newest packet is worth most: the answer that is awaited now is the one to the last poll.
///
/// `byteCapacity` is 253 times `capacity`. The compiler copies a large value whole to read a part of it, unless the method may change
/// it: so all methods are mutating, and what is read often is kept beside the arrays.
struct PacketQueue<Note, let capacity: Int, let byteCapacity: Int>: ~Copyable {
    private var bytes = InlineArray<byteCapacity, UInt8>(repeating: 0)
    private var byteCounts = InlineArray<capacity, UInt8>(repeating: 0)
    private var notes: InlineArray<capacity, Note>
    private var firstPlace = 0
    /// How many packets wait.
    private(set) var count = 0
    /// The note of the oldest packet; without a meaning if no packet waits.
    private(set) var firstNote: Note
    /// Bytes of the oldest packet; without a meaning if no packet waits.
    private(set) var firstByteCount = 0

    /// An empty queue.
    /// - Parameter note: fills the empty places.
    init(note: Note) {
        precondition(byteCapacity == capacity * Frame.maximumByteCount, "each packet has a place")
        notes = InlineArray(repeating: note)
        firstNote = note
    }

    /// Adds a packet of at most 253 bytes.
    mutating func append(_ packet: Span<UInt8>, note: Note) {
        precondition(packet.count <= Frame.maximumByteCount, "a packet is a frame")
        if count == capacity { removeFirst() }
        let place = (firstPlace + count) % capacity
        for index in packet.indices { bytes[place * Frame.maximumByteCount + index] = packet[index] }
        byteCounts[place] = UInt8(packet.count)
        notes[place] = note
        count += 1
        noteFirst()
    }

    /// Moves the oldest packet to `output`, which has room for it.
    mutating func moveFirst(to output: inout OutputSpan<UInt8>) {
        let start = firstPlace * Frame.maximumByteCount
        for index in start..<(start + firstByteCount) { output.append(bytes[index]) }
        removeFirst()
    }

    /// Removes the oldest packet.
    mutating func removeFirst() {
        firstPlace = (firstPlace + 1) % capacity
        count -= 1
        noteFirst()
    }

    private mutating func noteFirst() {
        firstNote = notes[firstPlace]
        firstByteCount = Int(byteCounts[firstPlace])
    }
}
