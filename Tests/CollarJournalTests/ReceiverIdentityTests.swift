import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Making, reading and refusing the receiver's file.
@Suite struct ReceiverIdentityTests {
    private let path = "/state/receiver"

    private func load(_ files: MemoryFileSystem, random: UInt8 = 0xA0) throws(JournalError) -> UInt32 {
        try ReceiverIdentity.load(
            stateDirectory: "/state", machineIDPath: "/none", fileSystem: files,
            makeRandomBytes: { (0..<16).map { random + $0 } }
        ).receiverID
    }

    @Test func theDigestIsFNV1aFolded() {
        // FNV-1a, 64 bits, of "foobar" is 85944171f73967e8 (the authors' own test vector).
        let id = ReceiverIdentity(randomBytes: Array("foo".utf8), machineID: Array("bar".utf8)).receiverID
        #expect(id == 0x8594_4171 ^ 0xF739_67E8)
        let seen = Set(
            (0..<1000).map {
                ReceiverIdentity(randomBytes: [UInt8($0 / 256), UInt8($0 % 256)], machineID: []).receiverID
            })
        #expect(seen.count == 1000)
        #expect(!seen.contains(0))
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
        #expect(throws: JournalError.file(FileFailure(.synchronize, path, errorNumber: EIO))) { try load(files) }
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
