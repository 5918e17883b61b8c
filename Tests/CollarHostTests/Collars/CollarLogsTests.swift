import CollarHost
import CollarWire
import Testing

/// The logs with which the host tries the CRC of a frame. Each further log would let some damaged frames pass for fixes.
@Suite struct TriedLogsTests {
    /// Passes a fix of each log to the host, and returns the ids of the logs whose fix the host stores.
    private func logsThatAreTried(_ collars: [PaperCollar], sequence: UInt32, _ bench: HostBench, _ link: LinkID) throws -> [LogID] {
        for collar in collars { bench.receive(try collar.fix(sequence), on: link) }
        return bench.takeFixes().map(\.logID)
    }

    @Test func ofSixteenLogsOfSixteenCollarsSixteenAreTriedTenMinutesLater() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        var logs: [PaperCollar] = []
        for log in 1...16 as ClosedRange<UInt32> {
            for collar in 0..<16 as Range<UInt64> {
                logs.append(try PaperCollar(deviceID: DeviceID(rawValue: 0xC0 + collar), logID: LogID(lowBitsOf: 100 * UInt32(collar) + log)))
            }
        }
        for log in logs { bench.receive(try log.identity(next: 9, poll: nil), on: link) }
        #expect(try logsThatAreTried(logs, sequence: 0, bench, link).count == 256)
        bench.wait(seconds: 599)
        #expect(try logsThatAreTried(logs, sequence: 1, bench, link).count == 256)
        bench.wait(seconds: 601)
        let last = logs.suffix(16).map(\.log.logID)
        #expect(try logsThatAreTried(logs, sequence: 2, bench, link) == last)
        // The other frames count as damaged, because their address is that of a known collar.
        #expect(bench.host.statistics.damagedFrames == 240)
    }

    @Test func aProbeOrAnIdentityBringsALogBack() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let logs = try [1, 2, 3].map { try PaperCollar(logID: $0) }
        for log in logs { bench.receive(try log.identity(next: 9, poll: nil), on: link) }
        bench.wait(seconds: 601)
        #expect(try logsThatAreTried(logs, sequence: 0, bench, link) == [3])
        bench.receive(try logs[1].probe(next: 9), on: link)
        #expect(try logsThatAreTried(logs, sequence: 1, bench, link) == [2, 3])
        bench.receive(try logs[0].identity(next: 9, poll: nil), on: link)
        #expect(try logsThatAreTried(logs, sequence: 2, bench, link) == [1, 2, 3])
        bench.wait(seconds: 601)
        #expect(try logsThatAreTried(logs, sequence: 3, bench, link) == [1])
    }

    /// After a restart, the host knows the logs of a collar, but not which of them the collar has now.
    @Test func afterARestartTheLogOfTheNewestRecordIsTried() throws {
        let bench = try HostBench { $0.segmentByteLimit = 4096 }
        let link = bench.openLink()
        let logs = try [3, 1, 2].map { try PaperCollar(logID: $0) }
        for log in logs { bench.receive(try log.identity(next: 9, poll: nil), on: link) }
        #expect(try logsThatAreTried([logs[0], logs[2], logs[1]], sequence: 0, bench, link) == [3, 2, 1])
        try bench.restart()
        #expect(try logsThatAreTried(logs, sequence: 1, bench, bench.openLink()) == [1])
        // The checkpoint of a new segment also tells the log of the newest record.
        for sequence in 2..<200 as Range<UInt32> { bench.receive(try logs[1].fix(sequence), on: bench.openLink()) }
        _ = bench.takeFixes()
        try bench.restart()
        #expect(try logsThatAreTried(logs, sequence: 200, bench, bench.openLink()) == [1])
    }
}
