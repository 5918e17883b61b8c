import CollarARQ
import CollarJournal
import CollarWire

/// The collars whose keys the host has.
final class KeyRing {
    /// The least time between two readings of the key files, in microseconds. A key that is added while the host runs is found
    /// when bytes come in.
    private static let readingInterval: Int64 = 1_000_000

    private let files: KeyFiles
    private let output: HostOutput
    private var lastReading: Instant?
    private var isFailing = false
    private(set) var collars: [KeyedCollar] = []

    init(_ files: KeyFiles, output: HostOutput) {
        self.files = files
        self.output = output
    }

    /// The keyed collar of an id; nil if the host has no key of it.
    func collar(_ deviceID: UInt64) -> KeyedCollar? { collars.first { $0.deviceID == deviceID } }

    /// Reads the key files, if the last reading is long enough ago.
    /// - Parameter progress: gives the stored progress of a collar, by its device id.
    /// - Returns: whether a key was added, removed or changed.
    func read(at now: Instant, progress: (UInt64) -> SealedProgress?) -> Bool {
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
    func read(progress: (UInt64) -> SealedProgress? = { _ in nil }) throws(JournalError) -> Bool {
        // If the state directory was removed, the keys remain in use: without them, anybody could pass for the collars.
        guard let deviceIDs = try files.deviceIDs() else { return false }
        var found: [KeyedCollar] = []
        var isChanged = false
        for deviceID in deviceIDs {
            guard let entry = try entry(of: deviceID) else { continue }
            if let known = collar(deviceID), known.key == entry.key {
                known.acceptsRestart = entry.acceptsRestart
                found.append(known)
            } else {
                isChanged = true
                found.append(KeyedCollar(deviceID: deviceID, entry: entry, progress: progress(deviceID)))
            }
        }
        if found.count != collars.count { isChanged = true }
        collars = found
        return isChanged
    }

    /// The content of a key file; nil if the file was removed meanwhile. If the file does not hold a key, and its key was read
    /// before, that key remains, without a report.
    /// - Throws: ``JournalError/unreadableKey(path:)`` if the file does not hold a key and none was read before; else the failure
    ///   of the reading.
    private func entry(of deviceID: UInt64) throws(JournalError) -> KeyFiles.Entry? {
        do throws(JournalError) { return try files.entry(of: deviceID) } catch {
            guard case .unreadableKey = error, let known = collar(deviceID) else { throw error }
            return KeyFiles.Entry(key: known.key, acceptsRestart: known.acceptsRestart)
        }
    }

    /// Removes the permission of a restart from the key file, because it was used.
    func removeRestartPermission(of collar: KeyedCollar) {
        do throws(JournalError) {
            // The user may have changed the key since it was read.
            guard try files.entry(of: collar.deviceID)?.key == collar.key else { return }
            try files.store(KeyFiles.Entry(key: collar.key), of: collar.deviceID)
        } catch {
            output.report(.keysFailing(error))
        }
    }
}
