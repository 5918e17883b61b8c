import CollarARQ
import CollarWire

/// The newest frame of a base radio that reports signals: it waits for its report, which follows it.
struct HeldFrame {
    /// A report that takes longer than this is not waited for, in microseconds. At 115,200 baud it is over in 2 ms.
    private static let longestWait: Int64 = 20_000
    /// After this many frames without a report no more are held, until a report comes.
    private static let patience = 8

    /// The bare frame; empty where none is held.
    private(set) var bytes: [UInt8] = []
    /// When it is taken in without a report; nil where none is held.
    private(set) var deadline: Instant?
    /// Frames in a row whose report did not come.
    private var missedCount = 0
    /// Whether the radio has said that it is one, or reported a signal.
    private(set) var isRadioKnown = false

    /// Whether frames with fixes are to be held.
    var isReporting: Bool { isRadioKnown && missedCount < HeldFrame.patience }

    /// The radio spoke for itself.
    mutating func radioSpoke() { isRadioKnown = true }

    /// A signal report came, whatever it is about.
    mutating func reportCame() {
        isRadioKnown = true
        missedCount = 0
    }

    /// Holds a frame that has come in.
    /// - Parameter turnaroundMicroseconds: how soon its sender must have an answer; nil where that is not known. The
    ///   wait takes at most a quarter of it.
    /// - Precondition: none is held.
    mutating func hold(_ frame: Span<UInt8>, now: Instant, turnaroundMicroseconds: Int64?) {
        precondition(deadline == nil, "one frame is held at a time")
        bytes.removeAll(keepingCapacity: true)
        for index in frame.indices { bytes.append(frame[index]) }
        let wait = min(HeldFrame.longestWait, (turnaroundMicroseconds ?? .max) / 4)
        deadline = now.advanced(byMicroseconds: wait)
    }

    /// Whether a frame is of a type that holds fixes.
    static func mayHoldFixes(_ frame: Span<UInt8>) -> Bool {
        do throws(DecodeError) {
            switch try FrameHeader(frame).type {
            case .absoluteFix, .liveFix, .batch: return true
            default: return false
            }
        } catch { return false }
    }

    /// The signal in a frame that is the report about the one held; nil where it is anything else.
    func signal(in frame: Span<UInt8>) -> RadioSignal? {
        guard deadline != nil, case .signalReport(let report)? = try? Message.decode(frame, log: nil, reference: 0),
            report.packetCheck == FrameCheck.sent(in: bytes.span)
        else { return nil }
        return report.signal
    }

    /// The frame is taken in; ``bytes`` keeps it until the next is held.
    mutating func release(isReported: Bool) {
        deadline = nil
        missedCount = isReported ? 0 : min(missedCount + 1, HeldFrame.patience)
    }
}
