import CollarARQ
import CollarJournal
import CollarWire

/// The collars whose keys the host has.
final class KeyRing {
    /// The least time between two readings of the key files, in microseconds. A key that is added while the host runs is found
    /// when a frame does not open.
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
    /// - Parameter progress: how far the sealed frames of a collar have come, by its device id.
    /// - Returns: whether a key was added, removed or changed.
    func read(at now: Instant, progress: (UInt64) -> SealedProgress?) -> Bool {
        if let lastReading, now.microseconds(since: lastReading) < Self.readingInterval { return false }
        lastReading = now
        var found: [KeyedCollar] = []
        var isChanged = false
        do throws(JournalError) {
            for deviceID in try files.deviceIDs() {
                guard let entry = try entry(of: deviceID) else { continue }
                if let known = collar(deviceID), known.entry == entry {
                    found.append(known)
                } else {
                    isChanged = true
                    found.append(KeyedCollar(deviceID: deviceID, entry: entry, progress: progress(deviceID)))
                }
            }
            isFailing = false
        } catch {
            // Without its keys the host would take forged frames in clear: the keys that it has remain.
            if !isFailing { output.report(.keysFailing(error)) }
            isFailing = true
            return false
        }
        if found.count != collars.count { isChanged = true }
        collars = found
        return isChanged
    }

    /// The content of a key file. A file that holds no key is reported; if its key was read before, that key remains.
    private func entry(of deviceID: UInt64) throws(JournalError) -> KeyFiles.Entry? {
        do throws(JournalError) { return try files.entry(of: deviceID) } catch {
            guard case .unreadableKey = error, let known = collar(deviceID) else { throw error }
            return known.entry
        }
    }

    /// Restores how far the sealed frames of a collar have come, when its journal is opened.
    func restore(_ deviceID: UInt64, _ progress: SealedProgress?) {
        guard let progress, let index = collars.firstIndex(where: { $0.deviceID == deviceID }),
            collars[index].window == nil
        else { return }
        collars[index] = KeyedCollar(deviceID: deviceID, entry: collars[index].entry, progress: progress)
    }

    /// A restart was accepted: it is not accepted again.
    func noteRestart(of collar: KeyedCollar) {
        do throws(JournalError) { try files.store(KeyFiles.Entry(key: collar.entry.key), of: collar.deviceID) } catch {
            output.report(.keysFailing(error))
        }
    }
}
