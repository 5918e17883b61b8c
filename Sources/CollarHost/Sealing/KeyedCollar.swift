import CollarARQ
import CollarJournal
import CollarWire

/// A collar with a key, and which of its sealed frames were received.
final class KeyedCollar {
    let deviceID: UInt64
    let keys: SealingKeys
    let key: CollarKey
    /// Whether the user allows a boot count below the highest one.
    var acceptsRestart: Bool
    /// The log of the newest boot; nil before an identity was opened.
    private(set) var logID: UInt32?
    /// The frames of the newest boot.
    private(set) var window: FrameNumberWindow?
    /// Boots of other logs than that of the newest boot count only if they are above this one.
    private var retiredBootCount: UInt32

    private let keyFingerprint: UInt32

    /// - Parameter progress: what an earlier process stored. If that was with the same key, frames up to this number count as
    ///   repeats.
    init(deviceID: UInt64, entry: KeyFiles.Entry, progress: SealedProgress?) {
        self.deviceID = deviceID
        key = entry.key
        acceptsRestart = entry.acceptsRestart
        keyFingerprint = SealingKeys.fingerprint(of: entry.key, deviceID: deviceID)
        let progress = progress?.keyFingerprint == keyFingerprint ? progress : nil
        logID = progress?.logID
        retiredBootCount = progress?.retiredBootCount ?? 0
        window = progress.map { FrameNumberWindow(restoring: $0.number) }
        keys = SealingKeys(entry.key, deviceID: deviceID)
    }

    /// How far the frames have come, to be stored; nil before an identity was opened.
    var progress: SealedProgress? {
        guard let logID, let window else { return nil }
        return SealedProgress(
            keyFingerprint: keyFingerprint, logID: logID, number: window.highest, retiredBootCount: retiredBootCount)
    }

    /// Whether an identity begins a new boot: its boot count is higher than that of the newest boot. An identity of another log
    /// must also be above the boots that an accepted restart has retired: otherwise an old identity could be repeated.
    func isNewBoot(_ bootCount: UInt32, logID: UInt32) -> Bool {
        guard let window else { return true }
        return bootCount > window.highest.bootCount && (logID == self.logID || bootCount > retiredBootCount)
    }

    /// Whether an identity is accepted that begins no new boot: only if the user said so, and if the log was never recorded.
    func acceptsRestart(logIDs: [UInt32], logID: UInt32) -> Bool {
        acceptsRestart && self.logID != logID && !logIDs.contains(logID)
    }

    /// Notes a frame that opened and is no repeat.
    func noteReceived(_ number: FrameNumber, logID: UInt32) {
        guard window?.highest.bootCount == number.bootCount, self.logID == logID else {
            if let former = window?.highest.bootCount, !isNewBoot(number.bootCount, logID: logID) {
                retiredBootCount = max(retiredBootCount, former)
            }
            self.logID = logID
            window = FrameNumberWindow(first: number)
            acceptsRestart = false
            return
        }
        window?.note(number.counter)
    }
}
