import Glibc
import LinuxSystem
import Testing

/// Changes of a directory, as the kernel tells them.
struct InotifyTests {
    private func watcher(_ folder: TemporaryFolder) throws -> DirectoryWatcher {
        try DirectoryWatcher(folder.path, namesBeginningWith: "tty")
    }

    @Test func whatIsMadeRemovedMovedOrGivenAwayIsTold() throws {
        let folder = try TemporaryFolder()
        folder.write("", to: "other")
        let watcher = try watcher(folder)
        #expect(!watcher.drain())
        let node = folder.write("", to: "ttyUSB0")
        #expect(watcher.drain())
        #expect(!watcher.drain(), "it is told once")
        unsafe chmod(node, 0o640)
        #expect(watcher.drain())
        try #require(unsafe rename("\(folder.path)/other", "\(folder.path)/ttyUSB1") == 0)
        #expect(watcher.drain())
        unsafe unlink(node)
        #expect(watcher.drain())
        #expect(!watcher.drain())
    }

    @Test func otherNamesAndWritesDoNotCount() throws {
        let folder = try TemporaryFolder()
        folder.write("", to: "ttyACM0")
        let watcher = try watcher(folder)
        folder.write("", to: "serial")
        folder.write("", to: "mytty")
        unsafe chmod("\(folder.path)/serial", 0o640)
        unsafe unlink("\(folder.path)/serial")
        #expect(!watcher.drain())
        let descriptor = unsafe open("\(folder.path)/ttyACM0", O_WRONLY | O_CLOEXEC)
        _ = SystemFiles.write([1], to: descriptor)
        close(descriptor)
        #expect(!watcher.drain(), "bytes that are written to a port are no change of it")
    }

    @Test func oneThatCountsAmongManyIsFoundWhereverItIs() throws {
        let folder = try TemporaryFolder()
        let watcher = try watcher(folder)
        for place in [0, 150, 299] {
            for number in 0..<300 { folder.write("", to: number == place ? "ttyS\(place)" : "file-\(place)-\(number)-with-a-long-name") }
            #expect(watcher.drain())
            #expect(!watcher.drain())
        }
    }

    @Test func theDescriptorIsReadableWhileEventsWait() throws {
        let folder = try TemporaryFolder()
        let watcher = try watcher(folder)
        func isReadable() -> Bool {
            var state = pollfd(fd: watcher.fileDescriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&state, 1, 0) > 0
        }
        #expect(!isReadable())
        folder.write("", to: "other")
        #expect(isReadable())
        #expect(!watcher.drain())
        #expect(!isReadable())
    }

    @Test func whatIsNoDirectoryCannotBeWatched() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SystemError(operation: "inotify_add_watch \(folder.path)/nothing", errno: ENOENT)) {
            try DirectoryWatcher("\(folder.path)/nothing", namesBeginningWith: "")
        }
        let file = folder.write("", to: "file")
        #expect(throws: SystemError(operation: "inotify_add_watch \(file)", errno: ENOTDIR)) {
            try DirectoryWatcher(file, namesBeginningWith: "")
        }
    }

    // MARK: The bytes of events

    private func event(_ watch: Int32, _ mask: UInt32, _ name: String, padding: Int = 0) -> [UInt8] {
        let bytes = Array(name.utf8) + [UInt8](repeating: 0, count: padding)
        func number(_ value: UInt32) -> [UInt8] { unsafe withUnsafeBytes(of: value) { unsafe Array($0) } }
        return number(UInt32(bitPattern: watch)) + number(mask) + number(77) + number(UInt32(bytes.count)) + bytes
    }

    private func events(_ bytes: [UInt8]) -> [(Int32, UInt32, String)] {
        var reader = InotifyEventReader(bytes: bytes[...])
        var found: [(Int32, UInt32, String)] = []
        while let event = reader.next() { found.append((event.watch, event.mask, event.name)) }
        return found
    }

    @Test func eachEventOfOneReadHasItsOwnWatchMaskAndName() {
        let found = events(event(1, 0x100, "ttyUSB0", padding: 9) + event(2, 0x4000_0200, "") + event(-1, 0x4000, "") + event(3, 4, "x"))
        #expect(found.map(\.0) == [1, 2, -1, 3])
        #expect(found.map(\.1) == [0x100, 0x4000_0200, 0x4000, 4])
        #expect(found.map(\.2) == ["ttyUSB0", "", "", "x"])
    }

    @Test func anIncompleteEventIsNone() {
        let whole = event(1, 0x100, "ttyUSB0", padding: 1)
        for count in 0..<whole.count { #expect(events(Array(whole.prefix(count))).isEmpty) }
        #expect(events(whole + whole.prefix(15)).count == 1)
    }
}
