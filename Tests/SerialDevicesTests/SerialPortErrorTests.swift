import FoundationEssentials
import Glibc
import Testing

@testable import SerialDevices

/// Every reason for which a port does not open, told apart.
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

    /// A busy port is tried for days.
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

    @Test func eachErrorSaysWhatIsTheMatterAndWhatToDo() {
        let path = "/dev/ttyUSB0"
        func denied(_ obstacle: PermissionObstacle) -> SerialPortError {
            .permissionDenied(path: path, obstacle: obstacle)
        }
        func busy(_ name: String) -> SerialPortError {
            .busy(path: path, holder: ProcessHolder(processID: 12, name: name))
        }
        let expectations: [(SerialPortError, says: String, remedy: String)] = [
            (.notFound(path: path), "no device", "collar-link devices"),
            (.notATerminal(path: path), "not a serial port", "collar-link devices"),
            (busy("picocom"), "picocom", "kill 12"),
            (busy("ModemManager"), "ModemManager (process 12)", "sudo systemctl stop ModemManager"),
            (.busy(path: path, holder: nil), "another program", "sudo fuser -v \(path)"),
            (denied(.notInGroup(group: "dialout", user: "alice")), "dialout", "sudo usermod -aG dialout alice"),
            (denied(.notLoggedInAgain(group: "dialout", user: "alice")), "session", "newgrp dialout"),
            (denied(.onlyOwner(user: "root")), "Only root", "70-collar-link.rules"),
            (denied(.onlyOwner(user: "bob")), "Only bob", "sudo -u bob"),
            (denied(.directory), "directory", "namei -l \(path)"),
            (denied(.containerOrSecurityModule), "container", "--device=\(path)"),
            (.disconnected(path: path), "no device answers", "plug it in again"),
            (.system(path: path, operation: "open", errno: EMFILE), "Too many open files", "dmesg"),
        ]
        for (error, says, remedy) in expectations {
            #expect(error.description.contains(says))
            #expect(error.description.contains(path))
            #expect(error.remedy.contains(remedy))
            #expect(error.path == path)
            if case .permissionDenied = error { #expect(!error.description.contains("no device")) }
        }
    }
}
