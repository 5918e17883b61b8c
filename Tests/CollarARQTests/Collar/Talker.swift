import CollarARQ
import CollarWire
import Testing

/// A collar on a half-duplex link that has booted, and a clock.
struct Talker {
    /// Frames take 10 ms and a millisecond for each byte, an answer comes after 40 ms: an exchange takes 107 ms.
    static let modem = ModemProfile(
        nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 10_000, turnaroundMicroseconds: 40_000, isHalfDuplex: true)
    static let exchange: Int64 = 107_000
    /// The turnaround and a block.
    static let sensing: Int64 = 41_000

    var delivery: CollarDelivery
    var now = Instant(microseconds: 0)
    var next: UInt32 = 0
    var lastPoll: PollNumber?
    /// The content of the frame that was sent last.
    var lastContent: CollarDelivery.Transmission.Content?

    init(seed: UInt32, modem: ModemProfile = Talker.modem, sensesChannel: Bool = false) {
        delivery = CollarDelivery(
            configuration: .init(
                heartbeatMicroseconds: 1_000_000_000, modem: modem, jitterSeed: seed, sensesChannel: sensesChannel),
            oldestSequence: 0, nextSequence: 0, firstUndelivered: 0, now: now)
    }

    /// Waits until the collar sends, and sends the frame.
    /// - Returns: when it began.
    mutating func send() throws -> Instant {
        for _ in 0..<10 {
            if let transmission = delivery.nextTransmission(now: now) {
                let start = now
                if let poll = transmission.poll { lastPoll = poll }
                lastContent = transmission.content
                now = now.advanced(byMicroseconds: 39_000)
                delivery.transmitted(frameByteCount: 29, now: now)
                return start
            }
            now = try #require(delivery.nextDeadline)
        }
        throw NothingSent()
    }

    struct NothingSent: Error {}

    /// Sends a burst to its poll.
    /// - Returns: when it began.
    mutating func sendBurst() throws -> Instant {
        lastPoll = nil
        let start = try send()
        while lastPoll == nil { _ = try send() }
        return start
    }

    mutating func answer(_ company: Company) {
        now = now.advanced(byMicroseconds: 68_000)
        let answer = Acknowledgement(receiverID: 7, poll: lastPoll, firstMissing: next, company: company)
        #expect(delivery.receive(answer, now: now) == .answer)
        #expect(delivery.nextTransmission(now: now) == nil)
    }

    /// Makes a fix at this time.
    mutating func log(at microseconds: Int64) {
        now = Instant(microseconds: microseconds)
        next += 1
        delivery.logChanged(oldestSequence: 0, nextSequence: next)
    }

    /// Sends what is due until a time. Each frame has a poll, and is answered.
    /// - Returns: when the frames began.
    mutating func exchanges(until end: Instant) -> [Int64] {
        var starts: [Int64] = []
        while now <= end {
            if let transmission = delivery.nextTransmission(now: now) {
                starts.append(now.microseconds)
                lastPoll = transmission.poll ?? delivery.batched(through: next - 1)
                now = now.advanced(byMicroseconds: 39_000)
                delivery.transmitted(frameByteCount: 29, now: now)
                answer(.few)
            } else if let due = delivery.nextDeadline, due <= end {
                now = due
            } else {
                break
            }
        }
        return starts
    }

    /// The first answer of a boot.
    mutating func beHeard(_ company: Company) throws {
        _ = try send()
        answer(company)
    }

    /// Makes a fix at this time and sends it, again and again as long as it is not answered.
    /// - Returns: the times from the fix to the beginnings of the frames.
    mutating func exchange(at microseconds: Int64, losses: Int = 0, _ company: Company = .few) throws -> [Int64] {
        log(at: microseconds)
        var starts: [Int64] = []
        for _ in 0...losses { starts.append(try send().microseconds - microseconds) }
        answer(company)
        return starts
    }
}

/// What must not wait for a turn.
enum Urgency: CaseIterable {
    case fix, reply, identity, heartbeat

    func arise(in delivery: inout CollarDelivery, now: Instant) {
        switch self {
        case .fix: delivery.newestIsUrgent()
        case .reply: delivery.replyWaits(frameCount: 1)
        case .identity: delivery.identityRequested()
        case .heartbeat: delivery.setHeartbeat(microseconds: 500_000_000, now: now)
        }
    }
}
