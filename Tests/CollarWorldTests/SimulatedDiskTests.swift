import CollarJournal
import Glibc
import Testing

@testable import CollarWorld

/// The simulated disk loses what a real disk may lose, and keeps what a real disk must keep.
@Suite struct SimulatedDiskTests {
    private func contents(_ disk: SimulatedDisk, _ path: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let file = try disk.open(path, .reading)
        defer { disk.close(file) }
        try disk.read(from: file, at: 0, count: 10_000, into: &bytes)
        return bytes
    }

    private func write(_ bytes: [UInt8], to file: FileReference, at offset: Int, _ disk: SimulatedDisk) throws {
        #expect(try disk.write(bytes, from: 0, to: file, at: offset) == bytes.count)
    }

    private let page = [UInt8](repeating: 7, count: 512)

    @Test func aKilledProcessLosesNothingAndGivesUpItsLocks() throws {
        let disk = SimulatedDisk(seed: 1)
        let file = try disk.open("/a", .creating)
        #expect(try disk.lock(file))
        #expect(try !disk.lock(disk.open("/a", .writing)))
        try write(page, to: file, at: 0, disk)
        disk.endProcess()
        #expect(try contents(disk, "/a") == page)
        #expect(try disk.lock(disk.open("/a", .writing)))
    }

    @Test func aPowerCutKeepsWhatWasSynchronisedAndAnyPartOfTheRest() throws {
        var outcomes: Set<[UInt8]> = []
        for seed in 0..<200 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let file = try disk.open("/a", .creating)
            try write(page, to: file, at: 0, disk)
            try disk.synchronize(file)
            try disk.synchronizeDirectory(at: "/")
            for number in 1...3 { try write(page, to: file, at: 512 * number, disk) }
            disk.losePower()
            let bytes = try contents(disk, "/a")
            #expect(bytes.prefix(512) == page[...])
            // The first byte of each block shows whether the block is there.
            outcomes.insert(stride(from: 0, to: bytes.count, by: 512).map { bytes[$0] })
        }
        for outcome in [[7], [7, 7], [7, 7, 7, 7], [7, 0, 7], [7, 0, 0, 7], [7, 7, 0, 7], [7, 0, 0, 0]] as [[UInt8]] {
            #expect(outcomes.contains(outcome), "\(outcome)")
        }
    }

    @Test func namesSurviveOnceTheirDirectoryIsSynchronised() throws {
        var made = 0
        var removed = 0
        for seed in 0..<100 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            #expect(try disk.makeDirectory(at: "/d"))
            try disk.synchronizeDirectory(at: "/")
            _ = try disk.open("/d/a", .creating)
            try disk.synchronizeDirectory(at: "/d")
            _ = try disk.open("/d/b", .creating)
            try disk.remove("/d/a")
            disk.losePower()
            let names = try disk.names(in: "/d")
            if names.contains("b") { made += 1 }
            if !names.contains("a") { removed += 1 }
        }
        #expect(made > 20 && made < 80 && removed > 20 && removed < 80)
    }

    @Test func aRenameIsOneStep() throws {
        var outcomes: Set<[UInt8]> = []
        for seed in 0..<50 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            for (path, byte) in [("/old", 1), ("/new", 2)] as [(String, UInt8)] {
                let file = try disk.open(path, .creating)
                try write([byte], to: file, at: 0, disk)
                try disk.synchronize(file)
            }
            try disk.synchronizeDirectory(at: "/")
            try disk.rename("/old", to: "/new")
            #expect(try disk.names(in: "/") == ["new"] && contents(disk, "/new") == [1])
            disk.losePower()
            outcomes.insert(try disk.names(in: "/").sorted().flatMap { try contents(disk, "/" + $0) })
        }
        #expect(outcomes == [[1], [2, 1]])
    }

    @Test func whatAFailedSynchronisationDroppedIsReadUntilAPowerCutAndNotBroughtToTheDiskLater() throws {
        var lost = 0
        for seed in 0..<100 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let file = try disk.open("/a", .creating)
            try disk.synchronizeDirectory(at: "/")
            try write(page, to: file, at: 0, disk)
            disk.faults.isNextSyncFailing = true
            #expect(throws: FileFailure(.synchronize, "/a", errorNumber: EIO)) { try disk.synchronize(file) }
            try disk.synchronize(file)
            #expect(try contents(disk, "/a") == page)
            disk.losePower()
            if try contents(disk, "/a") != page { lost += 1 }
        }
        #expect(lost > 20 && lost < 80)
    }

    @Test func aFailedSynchronisationIsReportedOnceToEachProcessThatHadTheFileOpen() throws {
        let disk = SimulatedDisk(seed: 1)
        let other = SimulatedDisk(sharing: disk, seed: 2)
        let file = try disk.open("/a", .creating)
        let seen = try other.open("/a", .reading)
        disk.faults.isNextSyncFailing = true
        let failure = FileFailure(.synchronize, "/a", errorNumber: EIO)
        #expect(throws: failure) { try disk.synchronize(file) }
        try disk.synchronize(file)
        try other.synchronize(try other.open("/a", .reading))
        #expect(throws: failure) { try other.synchronize(seen) }
        try other.synchronize(seen)
    }

    @Test func anotherProcessSeesTheFilesAndTheLocksAndOutlivesTheFirst() throws {
        let disk = SimulatedDisk(seed: 1)
        let other = SimulatedDisk(sharing: disk, seed: 2)
        let file = try disk.open("/a", .creating)
        try write(page, to: file, at: 0, disk)
        #expect(try contents(other, "/a") == page)
        #expect(try disk.lock(file))
        let same = try other.open("/a", .writing)
        #expect(try !other.lock(same))
        disk.endProcess()
        #expect(try other.lock(same))
        try write([9], to: same, at: 0, other)
        #expect(try contents(disk, "/a").first == 9)
        #expect(try !disk.lock(disk.open("/a", .writing)))
    }

    @Test func aFullDiskTakesWhatFitsAndGivesRoomBack() throws {
        let disk = SimulatedDisk(seed: 1)
        let file = try disk.open("/a", .creating)
        disk.faults.room = 100
        #expect(try disk.write(page, from: 0, to: file, at: 0) == 100)
        #expect(throws: FileFailure(.write, "/a", errorNumber: ENOSPC)) {
            try disk.write(page, from: 100, to: file, at: 100)
        }
        try disk.truncate(file, to: 40)
        #expect(try disk.write(page, from: 0, to: file, at: 40) == 60)
        // Overwriting needs no room.
        #expect(try disk.write(page, from: 0, to: file, at: 0) == 100)
    }

    @Test func fromTheStopOnEverythingFailsUntilANewProcess() throws {
        let disk = SimulatedDisk(seed: 1)
        let file = try disk.open("/a", .creating)
        disk.faults.operationsUntilStop = 1
        try write(page, to: file, at: 0, disk)
        #expect(!disk.isStopped)
        #expect(throws: FileFailure.self) { try disk.synchronize(file) }
        #expect(disk.isStopped)
        #expect(throws: FileFailure.self) { try disk.truncate(file, to: 0) }
        disk.endProcess()
        #expect(try contents(disk, "/a") == page)
    }

    @Test func onlyBytesThatNoCrashCanChangeAreCertain() throws {
        let disk = SimulatedDisk(seed: 1)
        #expect(try disk.makeDirectory(at: "/d"))
        try disk.synchronizeDirectory(at: "/")
        let file = try disk.open("/d/a", .creating)
        try disk.synchronizeDirectory(at: "/d")
        func certain() throws -> Int { try #require(disk.certainFiles(in: "/d").first).file.certainByteCount }
        try write(page, to: file, at: 0, disk)
        #expect(try certain() == 0)
        try disk.synchronize(file)
        #expect(try certain() == 512)
        try write([7, 7, 8], to: file, at: 100, disk)
        #expect(try certain() == 102)
        try disk.truncate(file, to: 50)
        #expect(try certain() == 50)
        _ = try disk.open("/d/b", .creating)
        #expect(disk.certainFiles(in: "/d").map(\.path) == ["/d/a"])
    }
}
