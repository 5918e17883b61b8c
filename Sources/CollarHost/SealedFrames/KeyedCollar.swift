import CollarARQ
import CollarJournal
import CollarWire

/// A collar with a key, and which of its sealed frames were received.
final class KeyedCollar {
    let deviceID: UInt64
    let keys: SealingKeys
    let key: CollarKey
    /// The log with which the user allows a boot count below the highest one; nil for none.
    var acceptedRestart: UInt32?
    /// The log of the newest boot; nil before an identity was opened.
    private(set) var logID: UInt32?
    /// The frames of the newest boot.
    private(set) var window: ReplayWindow?
    /// The highest boot count that a restart retired; 0 if none did. In another log, a boot must have a higher boot count.
    private var highestRetiredBootCount: UInt32 = 0

    /// The number of frames in a row that were received before. Copies at several radios do not count.
    private var repeatCount = 0
    /// The number of repeats in a row that no sound collar sends.
    private static let certainRepeatCount = 8

    private let keyFingerprint: UInt32

    /// - Parameter progress: the stored progress; nil if there is none. If it was stored with the same key, frames up to its
    ///   number count as repeats.
    init(deviceID: UInt64, key: CollarKey, progress: SealedProgress?) {
        self.deviceID = deviceID
        self.key = key
        keyFingerprint = SealingKeys.fingerprint(of: key, deviceID: deviceID)
        keys = SealingKeys(key, deviceID: deviceID)
        restore(progress)
    }

    /// Restores the stored progress, unless a frame was received before: a journal may be opened late.
    func restore(_ progress: SealedProgress?) {
        guard window == nil, let progress, progress.keyFingerprint == keyFingerprint else { return }
        logID = progress.logID
        highestRetiredBootCount = progress.highestRetiredBootCount
        window = ReplayWindow(restoring: progress.number)
    }

    /// Whether an identity may still be used after the journal was opened for it.
    func isUsable(_ number: FrameNumber, logID: UInt32) -> Bool {
        guard let window, !isNewBoot(number.bootCount, logID: logID) else { return true }
        return window.highest.bootCount == number.bootCount && self.logID == logID
            && window.freshness(of: number.counter) == .new
    }

    /// The newest number and its log, to be stored; nil before an identity opens.
    var progress: SealedProgress? {
        guard let logID, let window else { return nil }
        return SealedProgress(
            keyFingerprint: keyFingerprint, logID: logID, number: window.highest, highestRetiredBootCount: highestRetiredBootCount)
    }

    /// Whether an identity begins a new boot: its boot count is higher than that of the newest boot. An identity of another log
    /// must also be above the boots that an accepted restart has retired: otherwise an old identity could be repeated.
    func isNewBoot(_ bootCount: UInt32, logID: UInt32) -> Bool {
        guard let window else { return true }
        return bootCount > window.highest.bootCount && (logID == self.logID || bootCount > highestRetiredBootCount)
    }

    /// Whether a restart is accepted: the user allowed it for this log, and nothing is stored of the log.
    func isRestartAccepted(logID: UInt32, storedLogIDs: [UInt32]) -> Bool {
        acceptedRestart == logID && self.logID != logID && !storedLogIDs.contains(logID)
    }

    /// A frame came in that was received before.
    /// - Returns: whether ``certainRepeatCount`` frames in a row or more were repeats.
    func noteRepeated() -> Bool {
        repeatCount = min(repeatCount + 1, KeyedCollar.certainRepeatCount)
        return repeatCount == KeyedCollar.certainRepeatCount
    }

    /// Notes a frame that opened and is no repeat.
    func noteReceived(_ number: FrameNumber, logID: UInt32) {
        repeatCount = 0
        guard window?.highest.bootCount == number.bootCount, self.logID == logID else {
            if let former = window?.highest.bootCount, !isNewBoot(number.bootCount, logID: logID) {
                highestRetiredBootCount = max(highestRetiredBootCount, former)
            }
            self.logID = logID
            window = ReplayWindow(first: number)
            acceptedRestart = nil
            return
        }
        window?.note(number.counter)
    }
}
