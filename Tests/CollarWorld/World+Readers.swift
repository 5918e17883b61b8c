import CollarJournal

/// Named readers, which are other processes on the machines of the hosts.
extension World {
    func scheduleTurn(ofReader index: Int, of host: SimulatedMachine) {
        guard !isCalm else { return }
        let isAway = streams[.readers].chance(0.05)
        let wait = isAway ? streams[.readers].between(1_000_000, 20_000_000) : streams[.readers].between(10_000, 1_500_000)
        queue.add(.readerTurn(host: host.index, reader: index), at: now + wait)
    }

    func readerTurn(_ index: Int, of host: SimulatedMachine) {
        scheduleTurn(ofReader: index, of: host)
        host.readers[index].turn(at: host.time(now), host.records)
    }

    /// A process of the host is about to change a file: readers run before it does.
    func readersRunMeanwhile(_ host: SimulatedMachine, _ operation: FileOperation) {
        guard !isCalm else { return }
        for reader in host.readers { reader.runs(before: operation, at: host.time(now), host.records) }
        guard operation == .synchronize, plan.faults.contains(.hostPowerCuts), streams[.readers].chance(0.02) else { return }
        // A position that a reader has stored just now must not name records that this synchronisation was to bring to the disk.
        host.losesPowerAtStop = true
        host.disk.faults.operationsUntilStop = 0
    }

    /// A reader takes what is left after everything has arrived.
    func finish(_ reader: SimulatedReader, of host: SimulatedMachine) {
        reader.finish(at: host.time(now), host.records)
        oracle.checkEntries(of: reader, of: host)
        oracle.checkAlerts(of: reader, of: host)
    }
}
