import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire
import CollarWorld
import Testing

/// The key files that a host reads.
@Suite struct KeyFileTests {
    private let configuration = HostConfiguration(stateDirectory: "/state")
    private let deviceID: DeviceID = 0x0123_4567_89AB_CDEF

    private func key(_ byte: UInt8) -> CollarKey { CollarKey([UInt8](repeating: byte, count: CollarKey.byteCount).span) }

    /// Stores an entry, and stops the program before the last of its seven file operations, which makes the new name durable.
    private func storeHalf(_ entry: KeyFiles.Entry, _ files: KeyFiles, _ disk: SimulatedDisk) {
        disk.faults.operationsUntilStop = 6
        #expect(throws: JournalError.self) { try files.store(entry, of: deviceID) }
        disk.endProcess()
    }

    /// At every point at which the program is killed or the power fails, the key is still there, or its removal is noted: the collar is
    /// never without both, which would be a lost key.
    @Test func aRemovalIsNotedInOneStep() throws {
        for stop in 0..<8 {
            for seed in 0..<4 as Range<UInt64> {
                let disk = SimulatedDisk(seed: seed)
                let files = KeyFiles(stateDirectory: configuration.stateDirectory, fileSystem: disk)
                try files.makeDirectories()
                try files.store(KeyFiles.Entry(key: key(1)), of: deviceID)
                #expect(try !files.isRemoved(deviceID))
                disk.faults.operationsUntilStop = stop
                let isRemoved = (try? files.remove(deviceID)) != nil
                disk.endProcess()
                disk.losePower()
                let entry = try files.entry(of: deviceID)
                #expect(try files.isRemoved(deviceID) == (entry == nil))
                #expect(entry == nil || !isRemoved, "stop \(stop), disk \(seed)")
                #expect(try files.deviceIDs() == [deviceID])
            }
        }
    }

    @Test func aNameWithCapitalsIsNotPassedOver() throws {
        let disk = SimulatedDisk(seed: 1)
        let files = KeyFiles(stateDirectory: configuration.stateDirectory, fileSystem: disk)
        try files.makeDirectories()
        try files.store(KeyFiles.Entry(key: key(1)), of: deviceID)
        try disk.rename("/state/keys/0123456789abcdef", to: "/state/keys/0123456789ABCDEF")
        #expect(throws: JournalError.misnamedKey(path: "/state/keys/0123456789ABCDEF", name: "0123456789abcdef")) { try files.deviceIDs() }
    }

    /// A host that used the key would store how far its frames have come. If an earlier key came back, the host would take these
    /// frames again.
    @Test func aKeyThatAHostUsesOutlivesAPowerCutAlsoIfItsProgramWasKilled() throws {
        for seed in 0..<16 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let files = KeyFiles(stateDirectory: configuration.stateDirectory, fileSystem: disk)
            try files.makeDirectories()
            var entry = KeyFiles.Entry(key: key(1))
            entry.addPending(key(2))
            try files.store(entry, of: deviceID)
            entry.activate(key(2))
            storeHalf(entry, files, disk)
            #expect(try files.entry(of: deviceID)?.key == key(2))

            let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: HostBench.unixMilliseconds)
            _ = try Host(configuration, fileSystem: disk, random: SeededRandom(seed: seed), at: time)
            disk.losePower()
            #expect(try files.entry(of: deviceID)?.key == key(2), "disk \(seed)")
        }
    }
}
