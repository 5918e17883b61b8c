import CollarWire

/// The size of batches: halved if more than 60 % of them are lost, doubled if fewer than 30 % are.
///
/// On a link that damages bytes, a long frame is lost more often than a short one. On a link that loses frames whatever their
/// length, long frames are never worse.
struct BatchSize: Sendable {
    private static let historyCapacity = 16

    private let largest: Int
    /// The largest frame a batch may fill now, in bytes.
    private(set) var frameByteLimit: Int
    /// The last sequence of each batch since the last answer.
    private var last = InlineArray<16, UInt32>(repeating: 0)
    private var openCount = 0
    private var arrivedCount = 0
    private var lostCount = 0

    init(largest: Int) {
        self.largest = largest
        frameByteLimit = largest
    }

    mutating func sent(last sequence: UInt32) {
        guard openCount < BatchSize.historyCapacity else { return }
        last[openCount] = sequence
        openCount += 1
    }

    /// Counts, after an answer, how many of the batches since the previous answer arrived. After eight or more batches the limit
    /// is adapted.
    mutating func answered(_ delivered: DeliveredSequences) {
        var index = 0
        while index < openCount {
            if delivered.contains(last[index]) { arrivedCount += 1 } else { lostCount += 1 }
            index += 1
        }
        openCount = 0
        let count = arrivedCount + lostCount
        guard count >= 8 else { return }
        if lostCount * 5 > count * 3 {
            frameByteLimit = max(frameByteLimit / 2, min(Frame.minimumLimitByteCount, largest))
        } else if lostCount * 10 < count * 3 {
            frameByteLimit = min(frameByteLimit * 2, largest)
        }
        arrivedCount = 0
        lostCount = 0
    }
}
