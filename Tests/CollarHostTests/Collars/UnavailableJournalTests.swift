import CollarARQ
@testable import CollarHost
import CollarJournal
import CollarWire
import Glibc
import Testing

/// Journals that cannot be opened or that have disappeared. Their collars get no acknowledgement, but other collars do.
@Suite struct UnavailableJournalTests {
    private let folder = "/state/00000000000000c0"
    private let segment = "/state/00000000000000c0/00000001.journal"

    /// The number of waiting acknowledgements that cover at least fix 0.
    private func acknowledged(_ bench: HostBench) throws -> Int {
        try bench.frames().filter { frame in
            let header = try FrameHeader(frame.bytes.span)
            guard header.type == .acknowledgement else { return false }
            return try Acknowledgement(decoding: frame.bytes.span, header: header).firstMissing > 0
        }.count
    }

    private func unavailable(_ bench: HostBench) -> [DeviceID] {
        bench.notices().compactMap { if case .collar(let deviceID, .journalUnavailable(_)) = $0 { deviceID } else { nil } }
    }

    /// The collar sends its identity and a fix with a poll. Then the host commits and answers.
    private func hear(_ collar: PaperCollar, fix: UInt32 = 0, on link: LinkID, _ bench: HostBench) throws {
        bench.receive(try collar.identity(next: fix + 1, poll: nil), on: link)
        bench.receive(try collar.fix(fix, poll: 1), on: link)
        bench.commit()
    }

    private func make(_ path: String, _ bytes: [UInt8], _ bench: HostBench) throws {
        let file = try bench.disk.open(path, .creating)
        defer { bench.disk.close(file) }
        _ = try bench.disk.write(bytes, from: 0, to: file, at: 0)
    }

    @Test func anOddFileAndAForeignFolderKeepNobodyElseOut() throws {
        let bench = try HostBench()
        try hear(try PaperCollar(), on: bench.openLink(), bench)
        #expect(try acknowledged(bench) == 1)
        var bytes: [UInt8] = []
        let stored = try bench.disk.open(segment, .reading)
        try bench.disk.read(from: stored, at: 0, count: 10_000, into: &bytes)
        try make("/state/00000000000000b0", [1], bench)
        #expect(try bench.disk.makeDirectory(at: "/state/00000000000000b1"))
        try make("/state/00000000000000b1/00000001.journal", bytes, bench)
        try bench.restart()
        let failures = bench.notices().compactMap { if case .collar(_, .journalUnavailable(let error)) = $0 { error } else { nil } }
        #expect(
            failures == [
                .file(FileFailure(.open, "/state/00000000000000b0", errorNumber: ENOTDIR)),
                .foreignSegment(path: "/state/00000000000000b1/00000001.journal"),
            ])
        let link = bench.openLink()
        try hear(try PaperCollar(), fix: 1, on: link, bench)
        try hear(try PaperCollar(deviceID: 0xC1, logID: 78), on: link, bench)
        #expect(try acknowledged(bench) == 2)
        #expect(unavailable(bench) == [])
    }

    @Test func anOddFileAloneKeepsNobodyOut() throws {
        let bench = try HostBench()
        try make("/state/00000000000000b0", [1], bench)
        try bench.restart()
        #expect(unavailable(bench) == [0xB0])
        try hear(try PaperCollar(), on: bench.openLink(), bench)
        #expect(try acknowledged(bench) == 1)
    }

    @Test func aCollarFirstHeardWhileTheDiskIsFullIsServedOnceThereIsRoom() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.disk.faults.room = 0
        try hear(collar, on: link, bench)
        #expect(unavailable(bench) == [0xC0])
        for _ in 0..<5 {
            bench.wait(seconds: 11)
            try hear(collar, on: link, bench)
            #expect(bench.notices().isEmpty, "it is said once")
            // The host looks for keys, and does not try to open the journal again at every frame.
            let before = bench.disk.operationCount
            bench.wait(seconds: 9)
            try hear(collar, on: link, bench)
            #expect(bench.disk.operationCount == before + 1)
        }
        bench.disk.faults.room = nil
        #expect(try acknowledged(bench) == 0)
        bench.wait(seconds: 2)
        try hear(collar, on: link, bench)
        #expect(try acknowledged(bench) == 1)
        #expect(bench.notices().contains(.collar(0xC0, .storageRecovered)))
    }

    /// A collar counts once towards the limit of collars, also if its journal could not be opened at first.
    @Test func collarsWhoseJournalsOpenedLateCountOnce() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collars = try (0..<UInt64(HostLimits.collarCount)).map { try PaperCollar(deviceID: DeviceID(rawValue: 0x100 + $0), logID: 78) }
        func hear(_ group: ArraySlice<PaperCollar>) throws {
            for collar in group {
                // Sixteen new collars are accepted at once, then one a second.
                bench.wait(seconds: 1)
                try self.hear(collar, on: link, bench)
            }
        }
        bench.disk.faults.room = 0
        try hear(collars[..<40])
        #expect(unavailable(bench).count == 40)
        bench.disk.faults.room = nil
        #expect(try acknowledged(bench) == 0)
        bench.wait(seconds: 11)
        try hear(collars[..<40])
        try hear(collars[40...])
        #expect(try acknowledged(bench) == HostLimits.collarCount)
        #expect(bench.notices().allSatisfy { if case .collar(_, .refused) = $0 { false } else { true } })
    }

    /// This also holds for fixes that were durable: a collar polls for them again if the first answer was lost.
    @Test func nothingIsAcknowledgedOnceTheSegmentIsGone() throws {
        for isNew in [false, true] {
            let bench = try HostBench()
            let link = bench.openLink()
            let collar = try PaperCollar()
            try hear(collar, on: link, bench)
            #expect(try acknowledged(bench) == 1)
            _ = bench.notices()
            try bench.disk.remove(segment)
            for _ in 0..<3 { try hear(collar, fix: isNew ? 1 : 0, on: link, bench) }
            #expect(try acknowledged(bench) == 0)
            let failures = bench.notices().compactMap { if case .collar(_, .storageFailing(let error)) = $0 { error } else { nil } }
            #expect(failures == [.stopped(after: FileFailure(.find, segment, errorNumber: ENOENT))])
        }
    }

    /// Otherwise the host would make a new state directory, without the receiver id with which it answers.
    @Test func noCollarIsTakenUpOnceTheStateDirectoryIsGone() throws {
        let bench = try HostBench()
        for name in ["receiver", "lock"] { try bench.disk.remove("/state/\(name)") }
        try bench.disk.remove("/state")
        try hear(try PaperCollar(), on: bench.openLink(), bench)
        #expect(try acknowledged(bench) == 0)
        #expect(
            bench.notices().contains(
                .collar(0xC0, .journalUnavailable(.file(FileFailure(.find, "/state", errorNumber: ENOENT))))))
        #expect(throws: FileFailure.self) { try bench.disk.names(in: "/state") }
    }
}
