import CollarFormats
import CollarJournal
import FoundationEssentials
import Glibc
import Testing

@testable import CollarConfiguration

/// The animals files: real files, which change.
@Suite struct AnimalFilesTests {
    private let folder = "/tmp/collar-link-animals-\(UUID().uuidString)"

    private func write(_ text: String, to name: String) throws {
        let descriptor = unsafe open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        try #require(count == bytes.count)
    }

    private func remove(_ name: String) { _ = unsafe unlink("\(folder)/\(name)") }

    @Test func twoFilesThatChange() throws {
        try #require(unsafe mkdir(folder, 0o700) == 0)
        defer {
            remove("user")
            remove("machine")
            _ = unsafe rmdir(folder)
        }
        var files = AnnotationFiles(animals: ["\(folder)/user", "\(folder)/machine", "\(folder)/none/none"])
        #expect(files.refresh() == nil)
        #expect(files.annotations.deployments == DeploymentTable())
        try write("[animal A]\nwears = 0000000000000001\nwears = 0000000000000002", to: "machine")
        #expect(files.refresh() == [])
        #expect(files.refresh() == nil)
        #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "A")
        // The user's file decides where the two contradict each other.
        try write("[animal B]\nwears = 0000000000000001 until 1970-01-02", to: "user")
        #expect(files.refresh() == [])
        #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "B")
        #expect(files.annotations.deployments.wearer(of: 1, at: 86_400_000)?.name == "A")
        #expect(files.annotations.deployments.wearer(of: 2, at: 0)?.name == "A")
        // A file that is wrong: what it had before stays, and it is told once.
        let fault = EditedFileFault.animals(path: "\(folder)/user", AnimalRegisterError(.unknownKey("x"), line: 2))
        try write("[animal C]\nx = y", to: "user")
        #expect(files.refresh() == [fault])
        #expect(files.refresh() == nil)
        #expect(files.faults == [fault])
        #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "B")
        try write("[animal C]\nwears = 0000000000000001", to: "user")
        #expect(files.refresh() == [])
        #expect(files.faults == [])
        #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "C")
        remove("user")
        #expect(files.refresh() == [])
        #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "A")
    }

    @Test func messages() {
        let wrong = EditedFileFault.animals(path: "/x", AnimalRegisterError(.worn(deviceID: 1, by: "A", line: 2), line: 4))
        #expect(wrong.message.reason == "/x, line 4: line 2 of /x puts collar 0000000000000001 on A at the same time.")
        #expect(wrong.message.remedy == "End the one where the other begins: '… until TIME'.")
        let unreadable = EditedFileFault.unreadable(FileFailure(.open, "/x", errorNumber: EACCES), .animalsUnusable)
        #expect(unreadable.message.reason == "/x cannot be read: Permission denied.")
        #expect((unreadable.exitCode, wrong.exitCode) == (.noPermission, .configuration))
        let change = AnimalRegisterError(.unknownAnimal("Z"), line: nil).message(path: "/x")
        #expect(change.reason == "There is no animal Z in /x.")
        #expect(change.code == nil)
    }
}
