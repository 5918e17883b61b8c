import CollarPorts
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

/// The settings of a terminal that was opened as a serial port, whatever settings its last user left. A pseudo-terminal always
/// has 8 bits and no parity, so these two settings cannot be tested on it.
@Suite struct SerialPortSettingsTests {
    @Test func everythingThatChangesBytesIsOff() throws {
        let radio = try PseudoTerminal()
        try spoil(radio.fileDescriptor)
        let port = try SerialPort(opening: radio.path)
        // The master of a pseudo-terminal reports the settings of the other end.
        expectRaw(try settings(of: radio.fileDescriptor))
        port.close()
        #expect(!has(HUPCL, try settings(of: radio.fileDescriptor).c_cflag))
    }

    private static let input = [
        IGNBRK, BRKINT, IGNPAR, PARMRK, INPCK, ISTRIP, INLCR, IGNCR, ICRNL, IXON, IXANY, IXOFF, IMAXBEL,
    ]
    private static let local = [ECHO, ECHONL, ICANON, ISIG, IEXTEN]

    private func expectRaw(_ found: termios) {
        for flag in Self.input { #expect(!has(flag, found.c_iflag), "input \(flag)") }
        for flag in Self.local { #expect(!has(flag, found.c_lflag), "local \(flag)") }
        #expect(!has(OPOST, found.c_oflag))
        // A three-wire cable has no carrier, and closing the port must not reset the board.
        #expect(has(CLOCAL, found.c_cflag))
        #expect(!has(HUPCL, found.c_cflag))
        #expect(found.c_cflag & CRTSCTS == 0)
        #expect(!has(CSTOPB, found.c_cflag))
        #expect(minimum(found) == 1)
        #expect(time(found) == 0)
    }

    /// Sets a terminal to the opposite of what a serial port wants.
    private func spoil(_ descriptor: Int32) throws {
        var wrong = try settings(of: descriptor)
        for flag in Self.input { wrong.c_iflag |= tcflag_t(flag) }
        for flag in Self.local { wrong.c_lflag |= tcflag_t(flag) }
        wrong.c_oflag |= tcflag_t(OPOST)
        wrong.c_cflag &= ~tcflag_t(CLOCAL)
        wrong.c_cflag |= tcflag_t(CSTOPB) | tcflag_t(HUPCL) | CRTSCTS
        wrong.c_cc.6 = 0
        wrong.c_cc.5 = 7
        try #require(unsafe tcsetattr(descriptor, TCSANOW, &wrong) == 0)
        // If the terminal had not taken these settings, the test would prove nothing.
        let taken = try settings(of: descriptor)
        let isTaken = taken.c_iflag == wrong.c_iflag && taken.c_lflag == wrong.c_lflag && taken.c_oflag == wrong.c_oflag
        try #require(isTaken && taken.c_cflag == wrong.c_cflag)
        try #require(minimum(taken) == 0 && time(taken) == 7)
    }

    private func settings(of descriptor: Int32) throws -> termios {
        var settings = termios()
        try #require(unsafe tcgetattr(descriptor, &settings) == 0)
        return settings
    }

    private func has(_ flag: Int32, _ flags: tcflag_t) -> Bool { flags & tcflag_t(flag) == tcflag_t(flag) }

    /// The places of VMIN and VTIME among the control characters of Linux.
    private func minimum(_ settings: termios) -> cc_t { settings.c_cc.6 }
    private func time(_ settings: termios) -> cc_t { settings.c_cc.5 }
}
