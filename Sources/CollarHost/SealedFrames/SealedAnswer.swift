import CollarWire

/// Seals what the host sends in answer to one poll of a collar.
struct SealedAnswer {
    let keys: SealingKeys
    let log: LogIdentity
    let receiverID: UInt32
    /// The number of the collar's frame with the poll.
    let poll: FrameNumber

    /// Seals a frame in place.
    /// - Parameter index: 0 for the acknowledgement, 1 and 2 for the requests before it.
    func seal(_ frame: inout OutputSpan<UInt8>, index: UInt8) {
        SealedHostFrame.seal(&frame, poll: poll, index: index, receiverID: receiverID, log: log, keys: keys)
    }
}
