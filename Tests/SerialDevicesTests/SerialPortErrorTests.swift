import FoundationEssentials
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// Every reason why a port does not open has its own error.
@Suite struct SerialPortErrorTests {
    @Test func nothingThere() {
        #expect(throws: SerialPortError.notFound(path: "/dev/no-such-radio")) {
            try SerialPort(opening: "/dev/no-such-radio")
        }
        let belowAFile = "/dev/null/radio"
        #expect(throws: SerialPortError.notFound(path: belowAFile)) { try SerialPort(opening: belowAFile) }
    }

    @Test(arguments: ["/dev/null", "/tmp"]) func notATerminal(path: String) {
        #expect(throws: SerialPortError.notATerminal(path: path)) { try SerialPort(opening: path) }
    }

    @Test func aFileIsNotATerminal() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.file("track")
        #expect(throws: SerialPortError.notATerminal(path: file)) { try SerialPort(opening: file) }
    }

    /// A busy port is tried again for days: if each attempt kept a descriptor, none would be left.
    @Test func aFailedOpeningKeepsNoDescriptor() throws {
        let radio = try PseudoTerminal()
        let holder = try SerialPort(opening: radio.path)
        let openFiles = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") }
        func isOpenHere(_ path: String) throws -> Int {
            try openFiles().count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
        }
        let before = try isOpenHere(radio.path)
        #expect(before > 0)
        for _ in 0..<5 {
            #expect(throws: SerialPortError.self) { try SerialPort(opening: radio.path) }
        }
        #expect(try isOpenHere(radio.path) == before)
        withExtendedLifetime(holder) {}
    }

    @Test func theRateIsSet() throws {
        let radio = try PseudoTerminal()
        let directory = try TemporaryDirectory()
        let port = try SerialPort(opening: radio.path)
        try run(["stty", "-F", radio.path, "-a"], output: "\(directory.path)/stty")
        let settings = try #require(SystemFiles.firstLine(of: "\(directory.path)/stty"))
        #expect(settings.hasPrefix("speed 115200 baud"))
        port.close()
    }
}
