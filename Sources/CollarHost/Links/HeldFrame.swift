import CollarARQ
import CollarWire

/// The newest frame with fixes or a message, from a base radio that sends a signal report after such a frame. The frame is held
/// until its report comes.
struct HeldFrame {
    /// The longest wait for a report, in microseconds. At 115,200 baud a report takes 2 ms.
    private static let longestWait: Int64 = 20_000
    /// After this many frames in a row without a report, frames are no longer held. Holding resumes when a report comes.
    private static let patience = 8

    /// The bare frame that was held last; empty before the first one.
    private(set) var bytes: [UInt8] = []
    /// When the held frame is released even without a report; nil if none is held.
    private(set) var deadline: Instant?
    /// Frames in a row whose report did not come.
    private var missedCount = 0
    /// Whether a frame of the base radio itself has come in.
    private(set) var isRadioKnown = false

    /// Whether frames with fixes are to be held.
    var isReporting: Bool { isRadioKnown && missedCount < HeldFrame.patience }

    /// The base radio sent its identity or its modem settings.
    mutating func radioSpoke() { isRadioKnown = true }

    /// A signal report came, about any frame.
    mutating func reportCame() {
        isRadioKnown = true
        missedCount = 0
    }

    /// Holds a frame that has come in.
    /// - Parameter turnaroundMicroseconds: time within which the frame's sender expects an answer; nil if unknown. The wait
    ///   takes at most a quarter of it.
    /// - Precondition: no frame is held.
    mutating func hold(_ frame: Span<UInt8>, now: Instant, turnaroundMicroseconds: Int64?) {
        precondition(deadline == nil, "one frame is held at a time")
        bytes.removeAll(keepingCapacity: true)
        for index in frame.indices { bytes.append(frame[index]) }
        let wait = min(HeldFrame.longestWait, (turnaroundMicroseconds ?? .max) / 4)
        deadline = now.advanced(byMicroseconds: wait)
    }

    /// Whether the signal of a frame is stored: that of a frame with fixes or a message.
    static func isSignalStored(of frame: Span<UInt8>) -> Bool {
        do throws(DecodeError) {
            switch try FrameHeader(ofAny: frame).type {
            case .absoluteFix, .liveFix, .batch, .collarMessage: return true
            default: return false
            }
        } catch { return false }
    }

    /// The signal in `frame` if `frame` is the report about the held frame; else nil.
    func signal(in frame: Span<UInt8>) -> RadioSignal? {
        guard deadline != nil, case .signalReport(let report)? = try? Message.decode(frame, log: nil, reference: 0),
            report.packetCRC == FrameCRC.sent(in: bytes.span)
        else { return nil }
        return report.signal
    }

    /// The frame is no longer held. ``bytes`` keeps it until the next one is held.
    mutating func release(isReported: Bool) {
        deadline = nil
        missedCount = isReported ? 0 : min(missedCount + 1, HeldFrame.patience)
    }
}
