import CollarFormats
import CollarReceiver

/// Where a frame is in the input of `decode`.
struct FramePlace {
    /// The offset of the frame, or of the record of the capture in which it ends, in bytes.
    var offset: Int
    /// Where and when the frame was captured; nil if the input is no capture.
    var capture: Capture?

    /// Where and when a frame was captured.
    struct Capture {
        var port: String
        var direction: CaptureFrames.Direction
        var unixMilliseconds: Int64
    }

    /// The place, for people.
    var text: String {
        guard let capture else { return "@\(offset)" }
        let time = utcText(unixMilliseconds: capture.unixMilliseconds)
        return "@\(offset) \(time) \(PlainText.line(capture.port)) \(capture.direction.rawValue)"
    }

    /// When the frame was received, in milliseconds since 1970; nil if that is not known.
    var receivedUnixMilliseconds: Int64? { capture?.unixMilliseconds }
}
