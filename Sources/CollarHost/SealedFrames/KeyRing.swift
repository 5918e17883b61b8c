import CollarARQ
import CollarJournal
import CollarWire

final class KeyRing {
    /// The least time between two readings of the key files, in microseconds. A key that is added while the host runs is found
    /// when bytes come in.
    private static let readingInterval: Int64 = 1_000_000

    private let files: KeyFiles
    private let output: HostOutput
    private var lastReading: Instant?
    private var isFailing = false
    private var isChangeFailing = false
    private(set) var collars: [KeyedCollar] = []
    /// The keys that collars have offered and may have taken over.
    private(set) var pendingKeys: [PendingKey] = []
    /// The collars whose key a person has removed.
    private(set) var removed: Set<DeviceID> = []

    init(_ files: KeyFiles, output: HostOutput) {
        self.files = files
        self.output = output
    }

    func collar(_ deviceID: DeviceID) -> KeyedCollar? { collars.first { $0.deviceID == deviceID } }

    /// Reads the key files, if the last reading is long enough ago.
    /// - Parameter progress: gives the stored progress of a collar, by its device id.
    /// - Returns: whether a key was added, removed or changed.
    func read(at now: Instant, progress: (DeviceID) -> SealedProgress?) -> Bool {
        if let lastReading, now.microseconds(since: lastReading) < Self.readingInterval { return false }
        lastReading = now
        do throws(JournalError) {
            let isChanged = try read(progress: progress)
            isFailing = false
            return isChanged
        } catch {
            // Without its keys the host would take forged frames in clear: the keys that it has remain.
            if !isFailing { output.report(.keysFailing(error)) }
            isFailing = true
            return false
        }
    }

    /// Reads the key files.
    /// - Returns: whether a key was added, removed or changed.
    func read(progress: (DeviceID) -> SealedProgress? = { _ in nil }) throws(JournalError) -> Bool {
        // If the state directory was removed, the keys remain in use: without them, anybody could pass for the collars.
        guard let deviceIDs = try files.deviceIDs() else { return false }
        var found: [KeyedCollar] = []
        var pending: [PendingKey] = []
        var removed: Set<DeviceID> = []
        var isChanged = false
        for deviceID in deviceIDs {
            guard let entry = try entry(of: deviceID) else {
                if try files.isRemoved(deviceID) { removed.insert(deviceID) }
                continue
            }
            for key in entry.pendingKeys {
                let known = pendingKeys.first { $0.deviceID == deviceID && $0.key == key }
                pending.append(known ?? PendingKey(deviceID: deviceID, key: key))
            }
            // A key in use remains if its file holds only pending keys: without it, frames in clear would be taken.
            guard let key = entry.key ?? collar(deviceID)?.key else { continue }
            let known = collar(deviceID).flatMap { $0.key == key ? $0 : nil }
            if known == nil { isChanged = true }
            let collar = known ?? KeyedCollar(deviceID: deviceID, key: key, progress: progress(deviceID))
            collar.acceptedRestart = entry.acceptedRestart
            found.append(collar)
        }
        if found.count != collars.count || removed != self.removed { isChanged = true }
        // If a power cut brought an earlier key back, the stored progress would be that of another key, and frames that were
        // received before would be taken again.
        if isChanged { try files.synchronize() }
        (collars, pendingKeys, self.removed) = (found, pending, removed)
        return isChanged
    }

    /// The content of a key file; nil if the file was removed meanwhile. If the file does not hold a key, and its key was read
    /// before, that key remains, without a report.
    /// - Throws: ``JournalError/unreadableKey(path:)`` if the file does not hold a key and none was read before; else the failure
    ///   of the reading.
    private func entry(of deviceID: DeviceID) throws(JournalError) -> KeyFiles.Entry? {
        do throws(JournalError) { return try files.entry(of: deviceID) } catch {
            guard case .unreadableKey = error, let known = collar(deviceID) else { throw error }
            var entry = KeyFiles.Entry(key: known.key, acceptedRestart: known.acceptedRestart)
            for pending in pendingKeys where pending.deviceID == deviceID { entry.addPending(pending.key) }
            return entry
        }
    }

    /// Removes the permission of a restart from the key file, because it was used.
    func removeRestartPermission(of collar: KeyedCollar) {
        // The user may have changed the key since it was read.
        _ = change(collar.deviceID) { entry in
            guard entry.key == collar.key else { return nil }
            var new = entry
            new.acceptedRestart = nil
            return new
        }
    }

    /// A pending key has opened an identity: the collar has taken it over. It takes the place of the key, durably.
    /// - Returns: the collar with its new key; nil if the key cannot be stored now.
    func activate(_ pending: PendingKey) -> KeyedCollar? {
        var activated: KeyFiles.Entry?
        let isStored = change(pending.deviceID) { entry in
            // A user who has entered another key meanwhile wants that one.
            guard entry.pendingKeys.contains(pending.key) else { return nil }
            activated = entry
            activated?.activate(pending.key)
            return activated
        }
        guard isStored, let activated else { return nil }
        pendingKeys.removeAll { $0.deviceID == pending.deviceID && !activated.pendingKeys.contains($0.key) }
        collars.removeAll { $0.deviceID == pending.deviceID }
        let collar = KeyedCollar(deviceID: pending.deviceID, key: pending.key, progress: nil)
        collars.append(collar)
        return collar
    }

    /// Changes the key file of a collar, unless a person is changing it at this moment.
    /// - Parameter edit: makes the new entry from the present one; nil to change nothing.
    /// - Returns: whether the file was changed.
    private func change(_ deviceID: DeviceID, _ edit: (KeyFiles.Entry) -> KeyFiles.Entry?) -> Bool {
        var isChanged = false
        do throws(JournalError) {
            _ = try files.whileLocked { () throws(JournalError) in
                guard let new = try files.entry(of: deviceID).flatMap(edit) else { return }
                try files.store(new, of: deviceID)
                isChanged = true
                isChangeFailing = false
            }
        } catch {
            if !isChangeFailing { output.report(.keysFailing(error)) }
            isChangeFailing = true
        }
        return isChanged
    }
}

/// A key that a collar has offered over a cable, and that it may have taken over (PROTOCOL.md, section 23).
struct PendingKey {
    let deviceID: DeviceID
    let key: CollarKey
    let keys: SealingKeys

    init(deviceID: DeviceID, key: CollarKey) {
        self.deviceID = deviceID
        self.key = key
        keys = SealingKeys(key, deviceID: deviceID)
    }
}

/// A collar with a key, and which of its sealed frames were received.
final class KeyedCollar {
    let deviceID: DeviceID
    let keys: SealingKeys
    let key: CollarKey
    /// The log with which the user allows a boot count below the highest one; nil for none.
    var acceptedRestart: LogID?
    /// The log of the newest boot; nil before an identity was opened.
    private(set) var logID: LogID?
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
    init(deviceID: DeviceID, key: CollarKey, progress: SealedProgress?) {
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
    func isUsable(_ number: FrameNumber, logID: LogID) -> Bool {
        guard let window, !isNewBoot(number.bootCount, logID: logID) else { return true }
        return window.highest.bootCount == number.bootCount && self.logID == logID && window.freshness(of: number.counter) == .new
    }

    /// The newest number and its log, to be stored; nil before an identity opens.
    var progress: SealedProgress? {
        guard let logID, let window else { return nil }
        return SealedProgress(
            keyFingerprint: keyFingerprint, logID: logID, number: window.highest, highestRetiredBootCount: highestRetiredBootCount)
    }

    /// Whether an identity begins a new boot: its boot count is higher than that of the newest boot. An identity of another log
    /// must also be above the boots that an accepted restart has retired: otherwise an old identity could be repeated.
    func isNewBoot(_ bootCount: UInt32, logID: LogID) -> Bool {
        guard let window else { return true }
        return bootCount > window.highest.bootCount && (logID == self.logID || bootCount > highestRetiredBootCount)
    }

    /// Whether a restart is accepted: the user allowed it for this log, and nothing is stored of the log.
    func isRestartAccepted(logID: LogID, storedLogIDs: [LogID]) -> Bool {
        acceptedRestart == logID && self.logID != logID && !storedLogIDs.contains(logID)
    }

    /// A frame came in that was received before.
    /// - Returns: whether ``certainRepeatCount`` frames in a row or more were repeats.
    func noteRepeated() -> Bool {
        repeatCount = min(repeatCount + 1, KeyedCollar.certainRepeatCount)
        return repeatCount == KeyedCollar.certainRepeatCount
    }

    /// Notes a frame that opened and is no repeat.
    func noteReceived(_ number: FrameNumber, logID: LogID) {
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
