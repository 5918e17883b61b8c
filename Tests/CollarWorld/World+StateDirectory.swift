import CollarJournal

/// Changes that people and other programs make to a host's state directory.
extension World {
    /// The first call copies the state directory. The second call restores the copy, or removes the directory instead.
    func replaceState(_ host: SimulatedMachine) {
        guard let saved = host.savedState else {
            host.savedState = SavedState(disk: host.disk.snapshot(), oracle: oracle.promises(of: host.index))
            return
        }
        host.savedState = nil
        let isRemoved = streams[.stateRollback].chance(0.3)
        log("host \(host.index)'s state directory is \(isRemoved ? "removed" : "restored as it was")")
        crash(host, restartAfter: 100_000)
        host.disk.restore(isRemoved ? nil : saved.disk)
        for reader in host.readers { reader.stateIsReplaced() }
        host.stateWasReplaced()
        oracle.forgot(host, promisesBefore: isRemoved ? nil : saved.oracle)
    }

    /// The state directory is removed while the process runs. The process continues with open files that have no names any
    /// more, until it is restarted.
    func removeState(_ host: SimulatedMachine) {
        guard host.isRunning, !host.isStateRemoved else { return }
        log("host \(host.index)'s state directory is removed while it runs")
        host.savedState = nil
        host.disk.restore(nil)
        for reader in host.readers { reader.stateIsReplaced() }
        host.isStateRemoved = true
        oracle.forgot(host, promisesBefore: nil)
        queue.add(.endOfFault(.stateRemoval, host.index), at: now + streams[.stateRemoval].between(100_000, 8_000_000))
    }

    /// Adds a file or directory such as an editor, a file system check, a backup or a person leaves.
    func addForeignFile(_ host: SimulatedMachine) {
        let state = SimulatedMachine.stateDirectory
        let collar = collars[streams[.foreignFiles].below(collars.count)].deviceID
        let journals = JournalDirectory(stateDirectory: state, deviceID: collar).path
        let names = [
            (state, "notes.txt", false), (state, "lost+found", true), (state, "c011a2ffffffffff", false),
            (state, "c011a2eeeeeeeeee", true), (state, "ZZ", true), (journals, "00000001.journal~", false),
            (journals, "notes.txt", false), (journals, "old", true),
        ]
        let (directory, name, isDirectory) = names[streams[.foreignFiles].below(names.count)]
        log("\(name) appears in \(directory) of host \(host.index)")
        host.disk.add(name, to: directory, isDirectory: isDirectory)
    }

    /// A user moves the receiver to another disk: its id and the ranges that it covers in each log, but not the stored records.
    func moveReceiver(_ host: SimulatedMachine) {
        guard host.isRunning, !host.isStateRemoved else { return }
        log("host \(host.index)'s receiver moves to another disk")
        crash(host, restartAfter: 100_000)
        host.savedState = nil
        // The user repeats a move that fails, so the faults of the disk and of the readers do not matter.
        let faults = host.disk.faults
        let changing = host.disk.changing
        host.disk.faults = DiskFaults()
        host.disk.changing = nil
        do throws(JournalError) {
            let transfer = try ReceiverTransfer.retiring(
                stateDirectory: SimulatedMachine.stateDirectory, nowUnixMilliseconds: host.unixMilliseconds(now),
                fileSystem: host.disk)
            // Everything that it has stored stays on the old disk, whether the consumer has taken it or not.
            oracle.moved(host)
            host.disk.restore(nil)
            for reader in host.readers { reader.stateIsReplaced() }
            try transfer.takeOver(
                stateDirectory: SimulatedMachine.stateDirectory, nowUnixMilliseconds: host.unixMilliseconds(now),
                fileSystem: host.disk, random: &streams[.receiverMove])
            host.receiverMoved()
        } catch { oracle.report(.noRefusal, "host \(host.index)'s receiver does not move: \(error)") }
        host.disk.endProcess()
        host.disk.faults = faults
        host.disk.changing = changing
    }
}
