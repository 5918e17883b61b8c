import CollarARQ
import CollarWire

/// The link of a ``ScheduleTrial``: the frame on the air, the answers that come, and what the radio of the collar must hear.
struct ScheduleRadio {
    /// A poll that was sent and not answered.
    struct Awaited {
        let poll: PollNumber
        /// Polls without an answer directly before it.
        let attempt: Int
        var deadline: Int64
    }

    /// When the radio must receive.
    struct Window {
        let begin: Int64
        var end: Int64
        var extensionsLeft = 2
    }

    enum Downlink {
        case wish(ScheduleTrial.Wish)
        case answer(PollNumber)
    }

    static let modem = ModemProfile(
        nanosecondsPerByte: 1_500_000, frameOverheadMicroseconds: 20_000, turnaroundMicroseconds: 75_000, isHalfDuplex: true)
    /// The longest time from a poll to the end of its answer, which has at most 51 bytes.
    static let answerMicroseconds: Int64 = 75_000 + 20_000 + 51 * 1500

    let lossPercent: Int
    var isInReach = true
    /// Whether the collar knows its receiver.
    var isPaired = false
    var sending: (end: Int64, poll: PollNumber?)?
    var arrivals: [(time: Int64, content: Downlink)] = []
    var window: Window?
    var awaited: Awaited?
    var attempt = 0
    var lastTraffic: Int64 = 0
    var heartbeatSeconds: Int64 = 60
    private var listenedBefore: Int64 = 0
    private(set) var wishes: [ScheduleTrial.Wish] = []
    private var lastID: UInt16 = 0
    /// The keys that the report of a request must name.
    var reportKeys: [UInt16: Set<UInt8>] = [:]
    /// Whether a power report was asked for and has not come.
    var isPowerReportOwed = false
    var lastPowerReport: Int64?
    var lastUnanswered = Int64.min / 2

    init(lossPercent: Int) { self.lossPercent = lossPercent }

    var isSending: Bool { sending != nil }

    var nextEvent: Int64? {
        guard let sending else { return arrivals.first?.time }
        return min(sending.end, arrivals.first?.time ?? .max)
    }

    func listenedMicroseconds(at now: Int64) -> Int64 { listenedBefore + (window.map { min(now, $0.end) - $0.begin } ?? 0) }

    mutating func closeWindow(at now: Int64) {
        listenedBefore = listenedMicroseconds(at: now)
        window = nil
    }

    /// The collar starts again.
    mutating func boots(at now: Int64, heartbeatSeconds: Int64) {
        sending = nil
        arrivals = []
        window = nil
        awaited = nil
        attempt = 0
        listenedBefore = 0
        lastTraffic = now
        self.heartbeatSeconds = heartbeatSeconds
        isPowerReportOwed = false
        lastPowerReport = nil
    }

    mutating func wish(_ content: ScheduleTrial.Wish.Content) {
        guard wishes.count < 6 else { return }
        lastID += 1
        wishes.append(ScheduleTrial.Wish(id: lastID, content: content))
        if case .settings(let values) = content { reportKeys[lastID] = Set(values.keys.map(\.rawValue)) }
    }

    mutating func isDone(_ wish: ScheduleTrial.Wish) { wishes.removeAll { $0.id == wish.id } }
}
