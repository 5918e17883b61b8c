import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Making, reading and refusing the receiver's file, and the binding of its identity.
@Suite struct ReceiverIdentityTests {
    private let path = "/state/receiver"

    private var places: ReceiverBinding.Places {
        var places = ReceiverBinding.Places()
        places.machineID = "/machine-id"
        places.boardID = "/board-serial"
        places.blockDevices = "/block"
        return places
    }

    private func load(_ files: MemoryFileSystem, random: UInt8 = 0xA0) throws(JournalError) -> UInt32 {
        var generator = CountingGenerator(byte: random)
        return try ReceiverIdentity.load(
            stateDirectory: "/state", places: places, fileSystem: files, random: &generator
        ).receiverID
    }

    @Test func theDigestIsFNV1aFolded() {
        // FNV-1a, 64 bits, of "foobar" is 85944171f73967e8 (the authors' own test vector).
        let id = ReceiverIdentity(hashing: Array("foobar".utf8)).receiverID
        #expect(id == 0x8594_4171 ^ 0xF739_67E8)
        let seen = Set(
            (0..<1000).map {
                ReceiverIdentity(randomBytes: [UInt8($0 / 256), UInt8($0 % 256)], binding: ReceiverBinding()).receiverID
            })
        #expect(seen.count == 1000)
        #expect(!seen.contains(0))
    }

    @Test func everyPartOfTheBindingCountsAndNoneRunsIntoTheNext() {
        let random = [UInt8](repeating: 7, count: 16)
        var bindings: [ReceiverBinding] = [ReceiverBinding()]
        for text in ["1", "12", "2"].map({ Array($0.utf8) }) {
            for change in [
                { $0.machineID = text }, { $0.diskID = text }, { $0.boardID = text },
                { $0.birthUnixSeconds = Int64(text.count * 10) + Int64(text[0]) },
            ] as [(inout ReceiverBinding) -> Void] {
                for var binding in bindings.prefix(40) {
                    change(&binding)
                    bindings.append(binding)
                }
            }
        }
        let different = bindings.reduce(into: [ReceiverBinding]()) { if !$0.contains($1) { $0.append($1) } }
        let ids = Set(different.map { ReceiverIdentity(randomBytes: random, binding: $0).receiverID })
        #expect(ids.count == different.count && ids.count > 50)
    }

    /// The files of a machine whose state directory is on partition 179:2 of an SD card.
    private func machine() throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        files.replace("/machine-id", with: Array("0123\n".utf8))
        files.replace("/board-serial", with: Array("10000000abcdef\0".utf8))
        files.replace("/block/179:2/../device/cid", with: Array("cid-of-the-card\n".utf8))
        files.replace("/block/179:2/../device/serial", with: Array("0x1234\n".utf8))
        files.origins["/state/receiver"] = FileOrigin(deviceMajor: 179, deviceMinor: 2, birthUnixSeconds: 1_700_000_000)
        return files
    }

    @Test func aCopyIsAnotherReceiver() throws {
        let first = try load(machine())
        #expect(try load(machine()) == first)
        var seen: Set<UInt32> = [first]
        for (path, contents) in [
            ("/machine-id", "0124\n"), ("/board-serial", "10000000abcdee\0"),
            ("/block/179:2/../device/cid", "cid-of-another-card\n"),
        ] {
            // The cases are a clone with another machine id, the same disk in another board, and a clone on another card.
            let files = try machine()
            files.replace(path, with: Array(contents.utf8))
            #expect(seen.insert(try load(files)).inserted, "\(path)")
        }
        // A backup that is restored on the same machine has a later birth time.
        let files = try machine()
        files.origins["/state/receiver"]?.birthUnixSeconds += 3600
        #expect(seen.insert(try load(files)).inserted)
    }

    @Test func whatIsNoCopyStaysItself() throws {
        let first = try load(machine())
        // The same disk has another device number, and the kernel reports one more attribute of it.
        let files = try machine()
        files.origins["/state/receiver"]?.deviceMajor = 180
        files.replace("/block/180:2/../device/cid", with: Array("cid-of-the-card\n".utf8))
        files.replace("/block/180:2/../device/wwid", with: Array("new".utf8))
        #expect(try load(files) == first)
        // The file system is on the whole disk, not on a partition.
        let whole = try machine()
        whole.origins["/state/receiver"]?.deviceMajor = 8
        whole.replace("/block/8:2/device/cid", with: Array("cid-of-the-card".utf8))
        #expect(try load(whole) == first)
    }

    @Test func whereNothingIsToldThereIsStillAnIdentity() throws {
        let files = MemoryFileSystem()
        let first = try load(files)
        #expect(try load(files) == first)
        // The cases are a file system that is on no block device, and a disk whose serial number is blank.
        files.origins["/state/receiver"] = FileOrigin(deviceMajor: 0, deviceMinor: 50)
        #expect(try load(files) == first)
        files.origins["/state/receiver"] = FileOrigin(deviceMajor: 8, deviceMinor: 1)
        files.replace("/block/8:1/device/serial", with: Array(" \n".utf8))
        #expect(try load(files) == first)
    }

    @Test func theFileIsMadeOnceAndDurably() throws {
        let files = MemoryFileSystem()
        let first = try load(files)
        #expect(files.files[path]?.durable == Array("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf\n".utf8))
        #expect(files.files[path]?.isNameDurable == true)
        #expect(try load(files, random: 0x10) == first)
        files.crash { durable, _ in durable }
        #expect(try load(files, random: 0x10) == first)
    }

    @Test func aHalfMadeFileIsMadeAgainAndAnotherOneLeftAlone() throws {
        let files = MemoryFileSystem()
        let id = try load(files)
        let text = try #require(files.files[path]).bytes
        for length in 0..<text.count {
            files.replace(path, with: Array(text.prefix(length)))
            #expect(try load(files) == id)
        }
        files.replace(path, with: [UInt8](repeating: 0, count: 33))
        #expect(try load(files) == id)
        let other = Array("This is no receiver's file, but a letter.\n".utf8)
        files.replace(path, with: other)
        #expect(throws: JournalError.unreadableReceiver(path: path)) { try load(files) }
        #expect(files.files[path]?.bytes == other)
    }

    @Test func whatIsNotDurableIsNoIdentity() throws {
        let files = MemoryFileSystem()
        files.failures = [(.synchronize, EIO)]
        let failure = FileFailure(.synchronize, "\(path).new", errorNumber: EIO)
        #expect(throws: JournalError.file(failure)) { try load(files) }
        // The second process does not use the file that the first one left in the page cache.
        let second = try load(files, random: 0x10)
        files.crash { durable, _ in durable }
        #expect(try load(files, random: 0x20) == second)
    }

    @Test func aNameThatIsNotDurableIsMadeDurableBeforeItCounts() throws {
        let files = MemoryFileSystem()
        files.directorySyncFailure = EIO
        #expect(throws: JournalError.self) { try load(files) }
        files.directorySyncFailure = nil
        let second = try load(files, random: 0x10)
        files.crash { durable, _ in durable }
        #expect(try load(files, random: 0x20) == second)
    }

    @Test func collarsAreKnownByTheirDirectories() throws {
        let files = MemoryFileSystem()
        #expect(try files.makeDirectory(at: "/state"))
        for name in ["00000000000000ff", "0000000000000001", "FF", "000000000000000G", "00000000000000AA"] {
            #expect(try files.makeDirectory(at: "/state/\(name)"))
        }
        #expect(try JournalDirectory.knownCollars(stateDirectory: "/state", fileSystem: files) == [1, 255])
    }
}

/// Generates numbers that count up from `byte`, and begin again at 0 after 255.
struct CountingGenerator: RandomNumberGenerator {
    var byte: UInt8

    mutating func next() -> UInt64 {
        defer { byte &+= 1 }
        return UInt64(byte)
    }
}
