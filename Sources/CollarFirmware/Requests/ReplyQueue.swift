import CollarWire

/// A frame that waits to be sent in reply to a request of the host.
enum Reply: Equatable {
    /// The result of a request.
    case result(CommandResult)
    /// One of the frames that report the settings in force.
    case settings(requestID: UInt16, part: UInt8)
    /// The status of the collar.
    case status
}

/// Up to five frames of replies, oldest first. A reply that is lost on the air is not sent again; the host repeats its
/// request.
struct ReplyQueue {
    static let capacity = 5
    private var replies = InlineArray<5, Reply>(repeating: .status)
    private(set) var count = 0

    var room: Int { ReplyQueue.capacity - count }

    func contains(_ reply: Reply) -> Bool {
        for index in 0..<count where replies[index] == reply { return true }
        return false
    }

    func containsResult(ofRequest requestID: UInt16) -> Bool {
        for index in 0..<count {
            if case .result(let result) = replies[index], result.requestID == requestID { return true }
        }
        return false
    }

    /// Adds a reply at the end; there must be room.
    mutating func append(_ reply: Reply) {
        replies[count] = reply
        count += 1
    }

    mutating func removeFirst() -> Reply? {
        guard count > 0 else { return nil }
        let first = replies[0]
        for index in 1..<count { replies[index - 1] = replies[index] }
        count -= 1
        return first
    }
}
