import CollarARQ
import CollarWire
import SerialDevices

/// A place where a radio is, or will be: a tty the user named or udev found.
final class RadioPort {
    /// Why nothing is open here, and what may change it.
    enum State {
        /// The radio is open.
        case open(SerialPort)
        /// The path is watched: it may appear, or its permissions may change.
        case waiting(PathWatcher)
        /// Another program has it: try again at this time.
        case retrying(at: Instant, attempt: Int)
        /// Only a new device event brings it back.
        case gone
    }

    /// What is said about a port not more than once a minute.
    enum NoticeKind: Hashable, Sendable { case ignoredAsks, radio, modem }

    let path: String
    /// Whether the user named it; such a port is waited for, others come back by themselves.
    let isNamedByUser: Bool
    var state: State = .gone
    var stream = StreamDecoder()
    /// Index of the collar heard last here.
    var lastCollar: Int?
    /// The frame that waits for its signal report.
    var held = HeldFrame()
    /// Who the base radio says it is.
    var radioIdentity: RadioIdentity?
    /// How it says its modem is set.
    var modemSettings: ModemSettings?
    /// Frames that the line did not take yet.
    var outbound: [UInt8] = []
    /// When somebody unknown was last asked who it is.
    var lastIdentityRequest: Instant?
    /// How often those who ask and are not known are asked who they are.
    var identityRequests = ReceiverLimits.identityRequests
    /// What was said about this port.
    var notices = NoticeLimiter<NoticeKind>()
    /// When a collar that has not said who it is counts as silent; nil once one has.
    var sessionDeadlines: [Instant] = []
    /// What was last said about a port that cannot be opened, so that it is said once.
    var lastComplaint: SerialPortError?

    init(path: String, isNamedByUser: Bool) {
        self.path = path
        self.isNamedByUser = isNamedByUser
    }

    /// The open radio.
    var serialPort: SerialPort? {
        if case .open(let port) = state { port } else { nil }
    }

    /// The longest time from the end of a frame to the start of its answer, if the base radio tells it.
    var turnaroundMicroseconds: Int64? {
        modemSettings.map { Int64($0.turnaroundMilliseconds) * 1000 }
    }

    /// Forgets what was said by whoever was at the port before.
    func begin() {
        stream = StreamDecoder()
        held = HeldFrame()
        radioIdentity = nil
        modemSettings = nil
        outbound.removeAll()
        lastComplaint = nil
        lastIdentityRequest = nil
    }

    /// When something is due here.
    var nextDeadline: Instant? {
        if case .retrying(let instant, _) = state { return instant }
        guard let held = held.deadline else { return sessionDeadlines.first }
        return min(held, sessionDeadlines.first ?? held)
    }
}
