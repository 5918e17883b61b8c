import CollarJournal
import CollarWire

/// The keys in the state directory of a machine of a ``World``, as users and the program at a cable change them.
struct MachineKeys {
    private let disk: SimulatedDisk
    private let oracle: Oracle
    private let files: KeyFiles

    init(stateDirectory: String, disk: SimulatedDisk, oracle: Oracle) {
        self.disk = disk
        self.oracle = oracle
        files = KeyFiles(stateDirectory: stateDirectory, fileSystem: disk)
    }

    /// A user gives the key of a collar, if it is not there. A user who does not know the key that the collar has now leaves
    /// alone what an exchange has stored.
    func give(_ deviceID: DeviceID) {
        withoutFaults { () throws(JournalError) in
            let key = oracle.sealed.knownKey(of: deviceID)
            let entry = try files.entry(of: deviceID)
            if let found = entry?.key, found == key || oracle.sealed.isInForce(found, of: deviceID) { return }
            if entry?.pendingKeys.isEmpty == false, !oracle.sealed.isInForce(key, of: deviceID) { return }
            try files.makeDirectories()
            try files.store(KeyFiles.Entry(key: key), of: deviceID)
        }
    }

    /// The keys that a user finds; none if they cannot be read.
    var all: [DeviceID: KeyFiles.Entry] {
        var keys: [DeviceID: KeyFiles.Entry] = [:]
        withoutFaults { () throws(JournalError) in
            for deviceID in try files.deviceIDs() ?? [] { keys[deviceID] = try files.entry(of: deviceID) }
        }
        return keys
    }

    /// Users repeat what fails until it succeeds, so the faults of the disk do not matter.
    private func withoutFaults(_ body: () throws(JournalError) -> Void) {
        let faults = disk.faults
        disk.faults = DiskFaults()
        defer { disk.faults = faults }
        do throws(JournalError) { try body() } catch {}
    }

    /// The program at a cable stores a key that a collar has offered.
    /// - Returns: whether it is stored.
    func keepPending(_ key: CollarKey, of deviceID: DeviceID) -> Bool {
        change { () throws(JournalError) in
            var entry = try files.entry(of: deviceID) ?? KeyFiles.Entry(key: nil)
            entry.addPending(key)
            try files.store(entry, of: deviceID)
        }
    }

    /// The program at a cable stores a key that a collar has taken over.
    /// - Returns: whether it is stored.
    func keepExchanged(_ key: CollarKey, of deviceID: DeviceID) -> Bool {
        change { () throws(JournalError) in
            var entry = try files.entry(of: deviceID) ?? KeyFiles.Entry(key: nil)
            entry.activate(key)
            try files.store(entry, of: deviceID)
        }
    }

    private func change(_ body: () throws(JournalError) -> Void) -> Bool {
        do throws(JournalError) {
            try files.makeDirectories()
            return try files.whileLocked(body)
        } catch { return false }
    }
}
