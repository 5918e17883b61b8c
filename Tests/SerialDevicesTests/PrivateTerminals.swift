import Glibc
import Testing

@testable import SerialDevices

/// A process that sees only its own terminals and processes: a port that a test opens is held by the test and what it
/// started, and by nobody else. Elsewhere another program may wait for a `/dev/pts` path that is gone, and open the new
/// terminal of that name.
enum PrivateTerminals {
    /// Whether this process is one.
    static let areHere = unsafe getenv("COLLAR_LINK_PRIVATE_TERMINALS") != nil
    /// Whether one can be started.
    static let areAllowed = (try? run([script, "true"])) == 0
    private static let script =
        #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/Tools/lib/private-terminals"

    /// Runs the tests of a suite in such a process.
    /// - Returns: what it printed, and its exit status.
    static func runTests(of suite: String) throws -> (output: String, status: Int32) {
        let program = try #require(SystemFiles.linkTarget("/proc/self/exe"))
        let directory = try TemporaryDirectory()
        let output = "\(directory.path)/output"
        let status = try run([script, program, "--testing-library", "swift-testing", "--filter", suite], output: output)
        return (try contents(of: output), status)
    }
}

/// Runs ``PortHolderTests`` where they can be sure who holds a port.
@Suite struct PrivateTerminalTests {
    @Test(
        .enabled(if: PrivateTerminals.areHere || PrivateTerminals.areAllowed, "needs leave to mount a /dev/pts of its own"),
        .disabled(if: PrivateTerminals.areHere, "this process has terminals of its own already"))
    func portHolders() throws {
        let (output, status) = try PrivateTerminals.runTests(of: "PortHolderTests")
        #expect(status == 0, "\(output)")
        // An exit status of 0 is also what no test at all gives.
        #expect(output.contains(/Test run with [1-9]\d* tests? .*passed/), "\(output)")
        #expect(!output.contains("skipped"), "\(output)")
    }
}
