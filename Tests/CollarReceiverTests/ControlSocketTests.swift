import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import FoundationEssentials
import Glibc
import Testing

@testable import CollarReceiver

/// The place of the control socket.
@Suite final class ControlSocketTests {
    private let folder = "/tmp/collar-link-\(UUID().uuidString.prefix(13))"
    /// Whether only the directories of a test can hold the socket.
    private static let hasNoOtherPlace = unsafe access("/run/user/\(geteuid())", F_OK) != 0

    init() throws {
        for path in [folder, "\(folder)/state", "\(folder)/run", longState] { try #require(unsafe mkdir(path, 0o700) == 0) }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    /// The path of a socket may have 107 bytes.
    private var longState: String { "\(folder)/\(String(repeating: "s", count: 90))" }

    private func open(run: String? = "run") throws -> ControlSocket {
        try ControlSocket(stateDirectory: "\(folder)/state", runtimeDirectory: run.map { "\(folder)/\($0)" })
    }

    /// The runtime directory takes precedence over the state directory. A socket that a killed process left there is replaced.
    @Test func theSocketIsInTheRuntimeDirectory() throws {
        let path = try open().path
        #expect(path.hasPrefix("\(folder)/run/collar-link/"))
        #expect(unsafe access(path, F_OK) != 0, "the file goes with the socket")
        try Data().write(to: URL(filePath: path))
        let socket = try open()
        #expect(socket.path == path)
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK)
    }

    /// Something else that is at the place of the socket does not keep the receiver from the next place.
    @Test func aPlaceThatIsTakenIsPassedOver() throws {
        let path = try open().path
        try #require(unsafe mkdir(path, 0o700) == 0)
        let socket = try open()
        #expect(socket.path != path && !socket.path.hasPrefix("\(folder)/run"))
    }

    @Test(.enabled(if: hasNoOtherPlace, "the user has a runtime directory"))
    func theErrorIsThatOfTheLastPlace() throws {
        #expect(throws: ControlSocket.OpenError(path: "\(longState)/control.sock", errorNumber: ENAMETOOLONG)) {
            try ControlSocket(stateDirectory: self.longState, runtimeDirectory: nil)
        }
        let socket = try ControlSocket(stateDirectory: longState, runtimeDirectory: "\(folder)/run")
        #expect(socket.path.hasPrefix("\(folder)/run"))
    }

    /// A receiver whose socket cannot be opened says so and goes on.
    @Test(.enabled(if: hasNoOtherPlace, "the user has a runtime directory"))
    func aReceiverGoesOnWithoutItsSocket() throws {
        let bench = try ReceiverBench { $0.host.stateDirectory = longState }
        bench.configuration.playbackPath = nil
        bench.configuration.ports = ["\(bench.folder)/radio"]
        try bench.write([], to: "output")
        let descriptor = unsafe Glibc.open("\(bench.folder)/output", O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let run = try bench.run(writingTo: descriptor) { $0.stop(afterMicroseconds: 0) }
        #expect(run.error == nil && run.figures.errorCounts == ["control_failing": 1])
    }
}
