import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// A process that sees only its own terminals and processes: a port that a test opens is held only by the test and by processes
/// that the test started. In any other process, another program may wait for a `/dev/pts` path that is gone, and open the new
/// terminal of that name.
enum PrivateTerminals {
    /// Whether this process is such a process.
    static let areHere = unsafe getenv("COLLAR_LINK_PRIVATE_TERMINALS") != nil
    /// Whether such a process can be started.
    static let areAllowed = (try? run([script, "true"])) == 0
    private static let script =
        #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/Tools/lib/private-terminals"

    /// Runs the tests of a suite in such a process.
    /// - Returns: the output of the process, and its exit status.
    static func runTests(of suite: String) throws -> (output: String, status: Int32) {
        let program = try #require(SystemFiles.linkTarget("/proc/self/exe"))
        let directory = try TemporaryDirectory()
        let output = "\(directory.path)/output"
        let status = try run([script, program, "--testing-library", "swift-testing", "--filter", suite], output: output)
        return (try contents(of: output), status)
    }
}

/// Runs ``ProcessHolderTests`` in a process in which no unrelated program can hold a port.
@Suite struct PrivateTerminalTests {
    @Test(
        .enabled(if: PrivateTerminals.areHere || PrivateTerminals.areAllowed, "needs leave to mount a /dev/pts of its own"),
        .disabled(if: PrivateTerminals.areHere, "this process has terminals of its own already"))
    func portHolders() throws {
        let (output, status) = try PrivateTerminals.runTests(of: "ProcessHolderTests")
        #expect(status == 0, "\(output)")
        // The exit status is 0 even if no test runs.
        #expect(output.contains(/Test run with [1-9]\d* tests? .*passed/), "\(output)")
        #expect(!output.contains("skipped"), "\(output)")
    }
}
