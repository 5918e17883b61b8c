import Glibc
import Testing

@testable import CollarJournal

/// The files of named readers.
@Suite struct ReaderFilesTests {
    private let disk = MemoryFileSystem()
    private let name = ReaderName("db-1")

    private func files() throws -> ReaderFiles {
        _ = try disk.makeDirectory(at: "/state")
        let files = ReaderFiles(stateDirectory: "/state", fileSystem: disk)
        try files.makeDirectory()
        return files
    }

    private var state: ReaderState {
        var state = ReaderState(collars: [0x910A_2B3C_4D5E_6F70, 7], seenUnixMilliseconds: 1_790_000_000_000)
        state.positions[0x910A_2B3C_4D5E_6F70] = ReaderPosition(
            place: JournalPosition(segment: 3, offset: 40_960), segmentUnixMilliseconds: 1_780_000_000_000,
            fingerprint: 0x0123_4567_89AB_CDEF)
        state.events = EventPosition(file: 7, offset: 1024)
        return state
    }

    @Test func names() {
        for text in ["a", "db", "db-1", "A.b_c-9", String(repeating: "x", count: 64)] { #expect(ReaderName(text)?.text == text) }
        for text in ["", ".", "..", "-v", "_x", "a/b", "a b", "é", "a\n", String(repeating: "x", count: 65)] {
            #expect(ReaderName(text) == nil)
        }
    }

    /// A state directory may be restored while a reader runs. The reader's position belongs to the former journals.
    @Test func aReaderWhoseLockWasReplacedStoresNothing() throws {
        let files = try files()
        let name = try #require(name)
        let lock = try files.lock(name)
        try files.store(state, of: name, holding: lock)
        try disk.remove("/state/readers/db-1.lock")
        var later = state
        later.seenUnixMilliseconds += 1
        #expect(throws: JournalError.readerReplaced(path: "/state/readers/db-1.lock")) { try files.store(later, of: name, holding: lock) }
        let next = try files.lock(name)
        #expect(throws: JournalError.readerReplaced(path: "/state/readers/db-1.lock")) { try files.store(later, of: name, holding: lock) }
        #expect(try files.state(of: name) == state)
        try files.store(later, of: name, holding: next)
        #expect(try files.state(of: name) == later)
    }

    /// The line that names the kinds of entries is there where not both are taken.
    @Test(arguments: [(true, false, "entries fix"), (false, true, "entries message"), (false, false, "entries"), (true, true, nil)])
    func kindsOfEntries(takesFixes: Bool, takesMessages: Bool, line: String?) throws {
        var state = state
        (state.takesFixes, state.takesMessages) = (takesFixes, takesMessages)
        #expect(state.text.split(separator: "\n").first { $0.hasPrefix("entries") }.map(String.init) == line)
        #expect(ReaderState(text: state.text) == state)
        #expect(ReaderState(text: state.text + "entries fix gap\n") == nil)
    }

    @Test func theFileIsTextThatAPersonCanRead() throws {
        let files = try files()
        let name = try #require(name)
        #expect(try files.state(of: name) == nil)
        try files.store(state, of: name, holding: try files.lock(name))
        let text = String(decoding: try #require(disk.contents("/state/readers/db-1.reader")), as: UTF8.self)
        #expect(
            text == """
                collar-link reader 1
                seen 1790000000000
                collars 0000000000000007,910a2b3c4d5e6f70
                journal 910a2b3c4d5e6f70 3 40960 1780000000000 123456789abcdef
                events 7 1024

                """)
        #expect(try files.state(of: name) == state)
        #expect(try files.names() == [name])
        var all = ReaderState(seenUnixMilliseconds: 5)
        all.collars = nil
        try files.store(all, of: name, holding: try files.lock(name))
        #expect(
            disk.contents("/state/readers/db-1.reader") == Array("collar-link reader 1\nseen 5\ncollars all\n".utf8))
        #expect(try files.state(of: name) == all)
        #expect(try files.remove(name))
        #expect(try !files.remove(name))
        #expect(try files.names() == [])
    }

    @Test func anythingElseIsRefused() throws {
        let files = try files()
        let name = try #require(name)
        let head = "collar-link reader 1\n"
        for text in [
            "x", head, head + "seen 5", "collar-link reader 2\nseen 5\n", head + "seen x\n", head + "seen 5\njournal 1 2 3\n",
            head + "seen 5\njournal g 1 2 3 4\n", head + "seen 5\ncollars 7,g\n", head + "seen 5\nevents 1\n", head + "seen 5\nother\n",
            head + "seen 5\njournal 7 1 4294967296 3 4\n",
        ] {
            disk.replace("/state/readers/db-1.reader", with: Array(text.utf8))
            #expect(throws: JournalError.unreadableReader(path: "/state/readers/db-1.reader")) { try files.state(of: name) }
        }
    }

    @Test func aNameHasOneReader() throws {
        let files = try files()
        let name = try #require(name)
        let other = try #require(ReaderName("other"))
        do {
            let lock = try files.lock(name)
            defer { withExtendedLifetime(lock) {} }
            #expect(throws: JournalError.readerInUse(name, processID: 1000)) { try files.lock(name) }
            _ = try files.lock(other)
        }
        _ = try files.lock(name)
    }

    /// After a power cut the file has the old or the new state.
    @Test func theStateIsDurable() throws {
        let files = try files()
        let name = try #require(name)
        try files.store(ReaderState(seenUnixMilliseconds: 1), of: name, holding: try files.lock(name))
        try files.store(state, of: name, holding: try files.lock(name))
        disk.crash(keep: { durable, _ in durable }, keepsName: { false })
        #expect(try files.state(of: name) == state)
    }
}
