import Glibc
import Testing

@testable import CollarControl

/// The owners whose folders may hold the control socket.
@Suite struct SocketFolderTests {
    private let bench: ControlSocketBench

    init() throws { bench = try ControlSocketBench() }

    /// Whether this process may give a folder to another user.
    private static let mayGiveAway: Bool = {
        guard let bench = try? ControlSocketBench() else { return false }
        return unsafe chown(bench.runtimeDirectory, 1, gid_t.max) == 0
    }()

    private func give(_ folder: String, to user: uid_t) throws { try #require(unsafe chown(folder, user, gid_t.max) == 0) }

    private func isPrepared() throws -> Bool { try #require(bench.places.first).prepare() }

    private var folder: String { bench.runtimeDirectory + "/collar-link" }

    private func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// `XDG_RUNTIME_DIR` is that of the former user after `su`.
    @Test(.enabled(if: mayGiveAway, "only root can give a folder away")) func nothingIsMadeInARuntimeDirectoryOfAnotherUser() throws {
        try give(bench.runtimeDirectory, to: 1)
        #expect(try !isPrepared())
        #expect(!isThere(folder))
    }

    @Test(.enabled(if: mayGiveAway, "only root can give a folder away")) func aFolderOfAnotherUserIsNotUsed() throws {
        #expect(try isPrepared())
        try give(folder, to: 1)
        #expect(try !isPrepared())
    }

    @Test func aFileInPlaceOfTheFolderIsNotUsed() throws {
        let file = unsafe creat(folder, 0o600)
        try #require(file >= 0)
        close(file)
        #expect(try !isPrepared())
        try #require(unsafe unlink(folder) == 0)
        #expect(try isPrepared())
    }

    /// A file cannot hold a socket, so no receiver is there.
    @Test func aRuntimeDirectoryThatIsAFileHidesNothing() throws {
        func failure() -> ControlConnection.ConnectError? {
            do throws(ControlConnection.ConnectError) {
                _ = try ControlConnection(stateDirectory: bench.stateDirectory, runtimeDirectory: "/dev/null", patience: 0)
                return nil
            } catch { return error }
        }
        #expect(failure() == .absent)
        try bench.desert(try bench.path(inState: true))
        #expect(failure() == .deserted)
    }
}
