import CollarWire

/// The faults of one direction of the radio.
package struct ChannelPlan: Equatable, Sendable {
    /// Probability that a frame is lost.
    package var loss = 0.0
    /// Probability that a frame begins a burst of losses.
    package var burstStart = 0.0
    /// Probability that a frame ends a burst of losses.
    package var burstEnd = 0.3
    /// Probability that a frame in a burst is lost.
    package var burstLoss = 0.95
    /// Probability that a frame arrives twice.
    package var duplication = 0.0
    /// Probability that a frame arrives late.
    package var delay = 0.0
    /// The longest delay, in microseconds.
    package var maximumDelay: Int64 = 0
    /// Probability that bits of a frame are flipped.
    package var flips = 0.0
    /// Probability that a frame loses its end.
    package var truncation = 0.0
    /// Probability of noise before a frame.
    package var noise = 0.0

    /// The plan of a perfect radio.
    package init() {}
}

/// One direction of the radio between collars and a host.
struct Channel {
    /// Bytes that arrive, perhaps damaged.
    struct Delivery {
        var bytes: [UInt8]
        var delay: Int64
    }

    var plan: ChannelPlan
    /// Whether frames are sent as a stream with delimiters, which can be damaged too; otherwise they are sent as packets.
    let isStream: Bool
    private var isInBurst = false

    init(plan: ChannelPlan, isStream: Bool) {
        self.plan = plan
        self.isStream = isStream
    }

    /// Sends a bare frame.
    /// - Returns: what arrives of it, none to two copies.
    mutating func carry(_ frame: [UInt8], _ streams: inout FaultStreams) -> [Delivery] {
        isInBurst = isInBurst ? !streams[.burstLoss].chance(plan.burstEnd) : streams[.burstLoss].chance(plan.burstStart)
        let isLostInBurst = isInBurst && streams[.burstLoss].chance(plan.burstLoss)
        let isLost = streams[.loss].chance(plan.loss)
        var deliveries: [Delivery] = []
        if !isLost, !isLostInBurst {
            let delay = streams[.delay].chance(plan.delay) ? streams[.delay].between(0, plan.maximumDelay) : 0
            deliveries.append(Delivery(bytes: damaged(frame, &streams), delay: delay))
        }
        if streams[.duplication].chance(plan.duplication) {
            let delay = streams[.duplication].between(0, 5_000_000)
            deliveries.append(Delivery(bytes: damaged(frame, &streams), delay: delay))
        }
        return deliveries
    }

    private func damaged(_ frame: [UInt8], _ streams: inout FaultStreams) -> [UInt8] {
        var bytes = isStream ? Channel.stuffed(frame) : frame
        if streams[.bitFlips].chance(plan.flips) {
            for _ in 0...streams[.bitFlips].below(5) {
                let bit = streams[.bitFlips].below(bytes.count * 8)
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            }
        }
        if streams[.truncation].chance(plan.truncation) {
            bytes.removeLast(1 + streams[.truncation].below(bytes.count))
        }
        if isStream, streams[.noise].chance(plan.noise) {
            let count = 1 + streams[.noise].below(300)
            bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: streams[.noise].next()) } + bytes
        }
        return bytes
    }

    /// The frame between delimiters.
    static func stuffed(_ frame: [UInt8]) -> [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }
}
