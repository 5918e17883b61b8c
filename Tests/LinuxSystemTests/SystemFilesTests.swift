import Glibc
import LinuxSystem
import Testing

/// Files as the system tells them: their signatures, identities and contents.
struct SystemFilesTests {
    /// Sets the time of the last change of a file's content.
    private func setChanged(_ path: String, seconds: Int, nanoseconds: Int) {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        unsafe utimensat(AT_FDCWD, path, [time, time], 0)
    }

    /// The same length, the same second, the same inode.
    @Test func aFileThatIsChangedInPlaceWithinASecondHasAnotherSignature() throws {
        let folder = try TemporaryFolder()
        let path = folder.write("Rex1", to: "names")
        setChanged(path, seconds: 1_000_000, nanoseconds: 100)
        let first = try #require(FileSignature(path: path))
        #expect(FileSignature(path: path) == first)
        folder.write("Rex2", to: "names")
        setChanged(path, seconds: 1_000_000, nanoseconds: 200)
        let second = try #require(FileSignature(path: path))
        #expect(second != first)
        #expect(second.byteCount == 4)
        folder.write("Rex3", to: "names")
        setChanged(path, seconds: 1_000_001, nanoseconds: 200)
        let third = try #require(FileSignature(path: path))
        #expect(third != second && third != first)
    }

    /// The time of the status change differs: no program can set it back.
    @Test func aFileWhoseTimeWasSetBackHasAnotherSignature() throws {
        let folder = try TemporaryFolder()
        let path = folder.write("Rex1", to: "names")
        setChanged(path, seconds: 1_000_000, nanoseconds: 100)
        let first = try #require(FileSignature(path: path))
        let changed = try #require(SystemFiles.status(of: path)).st_ctim
        // The kernel's clock of files goes on in steps of some milliseconds.
        for _ in 0..<1_000_000 {
            folder.write("Rex2", to: "names")
            setChanged(path, seconds: 1_000_000, nanoseconds: 100)
            guard let now = SystemFiles.status(of: path)?.st_ctim else { break }
            if (now.tv_sec, now.tv_nsec) != (changed.tv_sec, changed.tv_nsec) { break }
        }
        #expect(FileSignature(path: path) != first)
    }

    @Test func aFileOfAnotherLengthAndOneThatTookItsPlaceHaveOtherSignatures() throws {
        let folder = try TemporaryFolder()
        let path = folder.write("Rex", to: "names")
        setChanged(path, seconds: 1_000_000, nanoseconds: 100)
        let first = try #require(FileSignature(path: path))
        let twin = folder.write("Rex", to: "twin")
        setChanged(twin, seconds: 1_000_000, nanoseconds: 100)
        #expect(FileSignature(path: twin) != first)
        folder.write("Rexi", to: "names")
        setChanged(path, seconds: 1_000_000, nanoseconds: 100)
        let longer = try #require(FileSignature(path: path))
        #expect(longer != first)
        #expect((first.byteCount, longer.byteCount) == (3, 4))
        try #require(unsafe rename(twin, path) == 0)
        let replaced = try #require(FileSignature(path: path))
        #expect(replaced != first && replaced != longer)
    }

    @Test func whatIsNotThereHasNoSignatureAndWhatCannotBeSeenHasOne() throws {
        let folder = try TemporaryFolder()
        #expect(FileSignature(path: "\(folder.path)/nothing") == nil)
        let file = folder.write("", to: "file")
        #expect(FileSignature(path: "\(file)/below") == nil)
        #expect(FileSignature(path: file)?.byteCount == 0)
        let loop = "\(folder.path)/loop"
        try #require(unsafe symlink(loop, loop) == 0)
        #expect(FileSignature(path: loop)?.byteCount == 0, "reading it tells what is wrong")
        #expect(FileSignature(path: loop) != FileSignature(path: file))
    }

    @Test func aFileIsTheSameByEachOfItsNames() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (folder.write("a", to: "one"), folder.write("a", to: "two"))
        let (hard, soft) = ("\(folder.path)/hard", "\(folder.path)/soft")
        try #require(unsafe link(one, hard) == 0 && symlink(one, soft) == 0)
        let identity = try #require(FileIdentity(path: one))
        #expect(FileIdentity(path: hard) == identity)
        #expect(FileIdentity(path: soft) == identity)
        #expect(FileIdentity(path: two) != identity)
        #expect(FileIdentity(path: "\(folder.path)/three") == nil)
        let descriptor = unsafe open(one, O_RDONLY | O_CLOEXEC)
        #expect(FileIdentity(descriptor: descriptor) == identity)
        close(descriptor)
        #expect(FileIdentity(descriptor: -1) == nil)
    }

    @Test func theContentIsReadUpToItsLimit() throws {
        let folder = try TemporaryFolder()
        let long = folder.write(String(repeating: "x", count: 200_000), to: "long")
        #expect(SystemFiles.content(of: long)?.count == 200_000)
        for limit in [0, 1, 65_536, 65_537, 199_999, 200_000, 200_001] {
            #expect(SystemFiles.content(of: long, byteLimit: limit)?.count == min(limit, 200_000))
        }
        #expect(SystemFiles.content(of: folder.write("", to: "empty")) == [])
        #expect(SystemFiles.content(of: "\(folder.path)/nothing") == nil)
        #expect(SystemFiles.content(of: folder.path) == nil, "a directory")
    }

    @Test func linesAndTheFirstLineOfAFileAreRead() throws {
        let folder = try TemporaryFolder()
        let file = folder.write("one\n\ntwo\nthree", to: "lines")
        #expect(SystemFiles.lines(of: file) == ["one", "two", "three"])
        #expect(SystemFiles.firstLine(of: file) == "one")
        #expect(SystemFiles.firstLine(of: folder.write("\nsecond", to: "empty first")) == "")
        #expect(SystemFiles.firstLine(of: folder.write("", to: "empty")) == nil)
        #expect(SystemFiles.firstLine(of: folder.write(String(repeating: "x", count: 300), to: "long"))?.count == 255)
        #expect(SystemFiles.lines(of: "\(folder.path)/nothing") == nil)
        #expect(SystemFiles.firstLine(of: "\(folder.path)/nothing") == nil)
    }

    @Test func namesOfADirectoryAndTargetsOfLinksAreTold() throws {
        let folder = try TemporaryFolder()
        #expect(SystemFiles.entries(of: folder.path) == [])
        folder.write("", to: "one")
        folder.write("", to: ".hidden")
        try #require(unsafe symlink("one", "\(folder.path)/link") == 0)
        #expect(SystemFiles.entries(of: folder.path).sorted() == [".hidden", "link", "one"])
        #expect(SystemFiles.entries(of: "\(folder.path)/nothing") == [])
        #expect(SystemFiles.linkTarget("\(folder.path)/link") == "one")
        #expect(SystemFiles.linkTarget("\(folder.path)/one") == nil)
        #expect(SystemFiles.linkTarget("\(folder.path)/nothing") == nil)
        #expect(SystemFiles.absolutePath("/a/b") == "/a/b")
        #expect(SystemFiles.absolutePath("b")?.hasSuffix("/b") == true)
        #expect(SystemFiles.absolutePath("b")?.hasPrefix("/") == true)
    }

    @Test func aWriteThatFailsIsTold() throws {
        let folder = try TemporaryFolder()
        let descriptor = unsafe open(folder.write("", to: "file"), O_RDONLY | O_CLOEXEC)
        #expect(!SystemFiles.write([1], to: descriptor))
        #expect(SystemFiles.write([], to: descriptor))
        close(descriptor)
        #expect(SystemFiles.read(from: -1) == nil)
    }

    @Test func aVariableOfTheEnvironmentIsReadOrNil() {
        #expect(Environment.value("COLLAR_LINK_NO_SUCH_VARIABLE") == nil)
        unsafe setenv("COLLAR_LINK_TEST_VARIABLE", "a=b", 1)
        #expect(Environment.value("COLLAR_LINK_TEST_VARIABLE") == "a=b")
        unsafe unsetenv("COLLAR_LINK_TEST_VARIABLE")
    }
}
