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
    private let deviceID: UInt64 = 0x0123_4567_89AB_CDEF

    private func key(_ byte: UInt8) -> CollarKey { CollarKey([UInt8](repeating: byte, count: CollarKey.byteCount).span) }

    /// Stores an entry, and stops the program before the last of its seven file operations, which makes the new name durable.
    private func storeHalf(_ entry: KeyFiles.Entry, _ files: KeyFiles, _ disk: SimulatedDisk) {
        disk.faults.operationsUntilStop = 6
        #expect(throws: JournalError.self) { try files.store(entry, of: deviceID) }
        disk.endProcess()
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
