import CollarARQ
import CollarJournal
import CollarWire

/// A collar with a key, and which of its sealed frames were received.
final class KeyedCollar {
    let deviceID: UInt64
    let keys: SealingKeys
    private(set) var entry: KeyFiles.Entry
    /// The log of the newest boot; nil before an identity was opened.
    private(set) var logID: UInt32?
    /// The frames of the newest boot.
    private(set) var window: FrameNumberWindow?

    /// - Parameter progress: what an earlier process stored. Frames up to this number count as repeats.
    init(deviceID: UInt64, entry: KeyFiles.Entry, progress: SealedProgress?) {
        self.deviceID = deviceID
        self.entry = entry
        logID = progress?.logID
        window = progress.map { FrameNumberWindow(restoring: $0.number) }
        keys = SealingKeys(entry.key, deviceID: deviceID)
    }

    /// How far the frames have come, to be stored; nil before an identity was opened.
    var progress: SealedProgress? {
        guard let logID, let window else { return nil }
        return SealedProgress(logID: logID, number: window.highest)
    }

    /// Whether an identity with a lower boot count is accepted: only if the user said so, and if the log was never recorded.
    func acceptsRestart(logIDs: [UInt32], logID: UInt32) -> Bool {
        entry.acceptsRestart && self.logID != logID && !logIDs.contains(logID)
    }

    /// Notes a frame that opened and is no repeat.
    func noteReceived(_ number: FrameNumber, logID: UInt32) {
        guard window?.highest.bootCount == number.bootCount, self.logID == logID else {
            self.logID = logID
            window = FrameNumberWindow(first: number)
            entry.acceptsRestart = false
            return
        }
        window?.note(number.counter)
    }
}
