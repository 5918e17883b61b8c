import CollarWire
import FoundationEssentials
import Glibc
import Testing

@testable import CollarReaders

/// The changes in a state directory that the watch reports.
@Suite final class JournalWatchTests {
    private let folder = "/tmp/collar-link-watch-\(UUID().uuidString)"
    private let watch: JournalWatch

    init() throws {
        for name in ["state", "elsewhere"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        watch = try JournalWatch(stateDirectory: folder + "/state")
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private func path(_ name: String) -> String { "\(folder)/state/\(name)" }

    private func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private func write(_ path: String) throws { try #require(FileManager.default.createFile(atPath: path, contents: Data([1, 2]))) }

    /// What has changed: `names`, `events` and the ids of collars.
    private func changes() -> Set<String> {
        let changes = watch.takeChanges()
        var told = Set(changes.collars.map { String($0.rawValue, radix: 16) })
        if changes.hasNewNames { told.insert("names") }
        if changes.hasEvents { told.insert("events") }
        return told
    }

    @Test func nothingHasChangedAtFirst() { #expect(changes() == []) }

    @Test func aNameThatIsCreatedIsToldOnce() throws {
        for name in ["a", "b"] {
            try makeDirectory(path(name))
            #expect(changes() == ["names"])
            #expect(changes() == [])
        }
    }

    @Test func aNameThatIsMovedInIsTold() throws {
        for name in ["a", "b"] {
            try makeDirectory("\(folder)/elsewhere/\(name)")
            #expect(changes() == [])
            try FileManager.default.moveItem(atPath: "\(folder)/elsewhere/\(name)", toPath: path(name))
            #expect(changes() == ["names"])
        }
    }

    @Test func aNameThatGoesIsNoNewOne() throws {
        try makeDirectory(path("a"))
        _ = changes()
        try FileManager.default.moveItem(atPath: path("a"), toPath: "\(folder)/elsewhere/a")
        #expect(changes() == [])
    }

    @Test func eachSubjectIsToldByItsOwnChanges() throws {
        for name in ["a", "b", "events"] { try makeDirectory(path(name)) }
        _ = changes()
        try watch.watch(path("a"), .collar(0xA))
        try watch.watch(path("b"), .collar(0xB))
        try watch.watch(path("events"), .eventLog)
        #expect(changes() == [])
        try write(path("a") + "/1")
        #expect(changes() == ["a"])
        try write(path("events") + "/1")
        #expect(changes() == ["events"])
        try write(path("b") + "/1")
        try write(path("a") + "/2")
        #expect(changes() == ["a", "b"])
        try write("\(folder)/elsewhere/x")
        #expect(changes() == [])
    }

    @Test func aSegmentThatIsMovedInIsTold() throws {
        try makeDirectory(path("a"))
        try watch.watch(path("a"), .collar(0xA))
        _ = changes()
        try write("\(folder)/elsewhere/1")
        try FileManager.default.moveItem(atPath: "\(folder)/elsewhere/1", toPath: path("a") + "/1")
        #expect(changes() == ["a"])
    }

    @Test func aDirectoryThatIsNotThereIsWatchedLater() throws {
        try watch.watch(path("a"), .collar(0xA))
        try makeDirectory(path("a"))
        #expect(changes() == ["names"])
        try watch.watch(path("a"), .collar(0xA))
        try write(path("a") + "/1")
        #expect(changes() == ["a"])
    }

    @Test func aDirectoryInThePlaceOfAnotherIsWatched() throws {
        try makeDirectory(path("a"))
        try watch.watch(path("a"), .collar(0xA))
        try FileManager.default.moveItem(atPath: path("a"), toPath: "\(folder)/elsewhere/a")
        try makeDirectory(path("a"))
        _ = changes()
        try watch.watch(path("a"), .collar(0xB))
        try write(path("a") + "/1")
        #expect(changes() == ["b"])
    }

    /// The kernel keeps a limited number of events, and says when it has dropped others.
    @Test func everythingMayHaveChangedAfterTooManyEvents() throws {
        for name in ["a", "b", "events"] { try makeDirectory(path(name)) }
        for name in ["1", "2"] { try write(path("a") + "/" + name) }
        try watch.watch(path("a"), .collar(0xA))
        try watch.watch(path("b"), .collar(0xB))
        try watch.watch(path("events"), .eventLog)
        _ = changes()
        let file = try #require(FileManager.default.contents(atPath: "/proc/sys/fs/inotify/max_queued_events"))
        let limit = try #require(Int(String(decoding: file, as: UTF8.self).prefix { $0.isNumber }))
        // Two equal events in a row are one.
        let files = [path("a") + "/1", path("a") + "/2"]
        for number in 0...limit { _ = unsafe chmod(files[number % 2], 0o600) }
        #expect(changes() == ["names", "events", "a", "b"])
        #expect(changes() == [])
        try write(path("b") + "/1")
        #expect(changes() == ["b"])
    }

    @Test func aFileInThePlaceOfADirectoryIsAnError() throws {
        try write(path("a"))
        #expect(throws: ReaderError.self) { try watch.watch(path("a"), .collar(0xA)) }
        #expect(throws: ReaderError.self) { try JournalWatch(stateDirectory: path("a")) }
        #expect(throws: ReaderError.self) { try JournalWatch(stateDirectory: path("none")) }
    }
}
