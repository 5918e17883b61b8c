import CollarControl

/// How long a request waits for a collar that is not heard.
public enum RequestDelivery: Hashable, Sendable {
    /// It does not wait: without a radio or contact it fails at once. After the time-out it is no longer sent.
    case now
    /// It waits in the receiver's queue, which is on the disk, for at most a week: also after the time-out, and over restarts of the receiver
    /// and of the program. Requests are sent in their order.
    case queued
    /// As ``queued``; and it replaces earlier requests of the same kind, for messages those of the same code, that were not sent yet.
    case latest

    var mode: ControlRequest.Mode {
        switch self {
        case .now: .now
        case .queued: .queue
        case .latest: .latest
        }
    }
}
