import CollarControl
import CollarJournal
import CollarPorts
import CollarWire
import Glibc
import Testing

@testable import CollarReceiver
@testable import SerialDevices

@Suite("The summary at the end of a run")
struct ReceiverSummaryTests {
    private func summary(
        fixes: Int64 = 0, messages: Int64 = 0, seconds: Int64 = 0, collars: [[CollarFigure: Int64]] = []
    ) -> String {
        var figures = ReceiverFigures()
        figures.values = [.fixes: fixes, .messages: messages, .uptime: seconds * 1000]
        for (id, values) in collars.enumerated() { figures.collars[DeviceID(rawValue: UInt64(id))] = values }
        return figures.summary
    }

    @Test("it counts fixes and collars, and gives the time of the run")
    func counts() {
        #expect(
            summary(fixes: 12, seconds: 300, collars: [[.heard: 1, .missing: 0], [.heard: 1, .missing: 0]])
                == "12 fixes of 2 collars in 5 min; none missing")
    }

    @Test("one fix and one collar are singular")
    func singular() {
        #expect(summary(fixes: 1, seconds: 1, collars: [[.heard: 1, .missing: 0]]) == "1 fix of 1 collar in 1 s; none missing")
    }

    @Test("messages are counted if there are any")
    func messages() {
        #expect(summary(fixes: 2, messages: 1, collars: [[.heard: 1]]) == "2 fixes and 1 message of 1 collar in 0 s; none missing")
        #expect(summary(fixes: 2, messages: 3, collars: [[.heard: 1]]) == "2 fixes and 3 messages of 1 collar in 0 s; none missing")
    }

    @Test("the missing fixes of all collars are added up")
    func missing() {
        #expect(
            summary(fixes: 9, collars: [[.heard: 1, .missing: 3], [.heard: 1, .missing: 4]])
                == "9 fixes of 2 collars in 0 s; 7 missing, requested again in the next run")
    }

    @Test("a collar that was not heard in this run does not count, although its journal is known")
    func notHeard() {
        #expect(
            summary(fixes: 9, collars: [[.heard: 1, .missing: 0], [.heard: 0, .missing: 4], [:]])
                == "9 fixes of 1 collar in 0 s; none missing")
    }

    @Test("a run that heard nothing says so")
    func nothing() {
        #expect(summary(seconds: 60) == "0 fixes of 0 collars in 60 s; none missing")
    }
}

/// The messages for all errors of a port.
@Suite struct PortMessageTests {
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
            (
                denied(.modeChanged(mode: 0o600, group: "dialout", user: "alice")), "alice is in the group dialout",
                "sudo chmod 660 \(path)"
            ),
            (denied(.ownerExcluded(mode: 0o440, user: "alice")), "belongs to alice, but its mode 440", "chmod u+rw \(path)"),
            (denied(.directory), "directory", "namei -l \(path)"),
            (denied(.containerOrSecurityModule), "container", "--device=\(path)"),
            (denied(.notSetYet), "udevd", "systemctl status systemd-udevd"),
            (.disconnected(path: path), "does not answer", "plug it in again"),
            (.system(path: path, operation: "open", errno: EMFILE), "Too many open files", "dmesg"),
        ]
        for (error, says, remedy) in expectations {
            let message = error.message
            #expect(message.reason.contains(says))
            #expect(message.reason.contains(path))
            #expect(message.remedy?.contains(remedy) == true)
            #expect(error.path == path)
            if case .permissionDenied = error { #expect(!message.reason.contains("no device")) }
        }
        // A rule for USB adapters does not help at a port of the board.
        let own = SerialPortError.permissionDenied(path: "/dev/ttyS0", obstacle: .onlyOwner(user: "root")).message
        #expect(own.remedy?.contains("70-collar-link.rules") == false)
        #expect(own.command?.text == "sudo chgrp dialout /dev/ttyS0 && sudo chmod 660 /dev/ttyS0")
    }

    /// Without udevd's data no mark is seen, so the advice to mark a device would not help.
    @Test func theAdviceDependsOnWhatIsSeenOfUdevd() {
        let device = SerialDevice(
            node: "/dev/ttyUSB0", sysPath: "/sys/devices/usb1/1-1/ttyUSB0",
            property: { ["ID_BUS": "usb", "ID_VENDOR_ID": "0403"][$0] }, usbAttribute: { _ in nil }, parentDriver: { nil })
        for source in [DeviceMonitor.Source.udevd, .udevDatabase] {
            let message = ReceiverNotice.waitingForRadio(others: [device], noticedBy: source).message
            #expect(message.reason.contains("COLLAR_LINK=1"))
            #expect(message.remedy?.contains("collar-link mark /dev/ttyUSB0") == true)
        }
        let message = ReceiverNotice.waitingForRadio(others: [device], noticedBy: .kernel).message
        #expect(!message.reason.contains("COLLAR_LINK"))
        #expect(message.remedy?.contains("-v /run/udev:/run/udev:ro --network host") == true)
        #expect(message.remedy?.contains("collar-link mark") == false)
    }
}

/// The messages about files and directories that cannot be used.
@Suite struct StorageMessageTests {
    @Test func aFailureOfAFileSaysWhichAndWhatToDo() {
        let path = "/x/00000001.journal"
        let expectations: [(FileOperation, Int32, says: String, remedy: String)] = [
            (.write, ENOSPC, "cannot write to \(path): No space left on device", "Make room on the disk that holds \(path)."),
            (.write, EROFS, "Read-only file system", "writable"), (.read, EIO, "Input/output error", "dmesg"),
            (.create, ELOOP, "symbolic link", "in the way at \(path)"), (.open, EACCES, "Permission denied", "write access"),
            (.find, ENOENT, "No such file", "removed or moved"), (.open, EMFILE, "Too many open files", "ulimit -n"),
            (.write, EFBIG, "File too large", "ulimit -f"), (.write, EDQUOT, "quota", "quota"),
        ]
        for (operation, errorNumber, says, remedy) in expectations {
            let failure = FileFailure(operation, path, errorNumber: errorNumber)
            #expect(failure.message.reason.contains(says))
            #expect(failure.message.reason.contains(path))
            #expect(failure.message.remedy?.contains(remedy) == true)
            // The message of a stopped journal still names the failure that stopped it.
            let stopped = JournalError.stopped(after: failure).message
            #expect(stopped.reason == "The journal has stopped: \(failure.message.reason.asClause)")
            #expect(stopped.remedy?.contains("restart") == true)
        }
    }

    @Test func aHolderIsNamed() {
        #expect(JournalError.heldBy(processID: 4711, path: "/x").message.reason.contains("process 4711"))
        #expect(JournalError.heldBy(processID: nil, path: "/x").message.reason.contains("another process"))
    }

    @Test func aDirectoryThatOthersMayWriteToHasItsCommand() {
        #expect(JournalError.openToStrangers(.others, path: "/x").message.remedy?.contains("chmod go-w /x") == true)
    }
}
