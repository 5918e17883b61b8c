import Glibc
import Testing

@testable import CollarDoctor
@testable import SerialDevices

/// The facts of a machine: of this one, and of recorded ones.
@Suite struct MachineFactsTests {
    @Test func linesOfFacts() throws {
        let samples = [
            FactLine(key: "status /dev/a = b", value: "c 660 0 20 188:0 1"), FactLine(key: "named-ports", value: "/dev/a\n/dev/b = 1"),
            FactLine(key: "environment X", value: "100%, 5% = é"), FactLine(key: "absent /x", value: ""),
        ]
        for sample in samples {
            #expect(sample.text.split(separator: "\n").count == 1)
            #expect(FactLine(sample.text.dropLast()) == sample)
        }
        #expect(FactLine("a=%0A%zz%4")?.value == "\n%zz%4")
        #expect(FactLine("no equals sign") == nil)
        #expect(FactLine(" = value") == nil)
    }

    /// A layered machine: the directory overrides its base.
    @Test func layers() throws {
        let folder = try TemporaryDirectory()
        _ = try run(["sh", "-c", """
            cd '\(folder.path)' && mkdir -p base/etc/rules top/etc/rules base/sys/a
            echo one > base/etc/rules/1; echo two > base/etc/rules/2; echo three > top/etc/rules/3; echo new > top/etc/rules/2
            echo deep > base/sys/a/b
            printf 'user = 1000 alice\\nlink /l = /etc/rules\\nspace / = 5 - rw\\nstatus /sys/a = d 755 0 0 0:0 9\\n' > base/facts
            printf '# text\\n\\nbase = base\\nabsent /etc/rules/1 =\\nabsent /sys/a =\\nrefused /secret =\\nuser = 0 root\\nentry /etc/rules/9 =\\n' > top/facts
            """])
        let machine = try RecordedMachine(directory: "\(folder.path)/top/")
        #expect(machine.names(in: "/etc/rules") == ["2", "3", "9"])
        #expect(machine.firstLine(of: "/etc/rules/2") == "new")
        #expect(machine.firstLine(of: machine.resolved("/l/../rules/./3")) == "three")
        #expect(machine.content(of: "/etc/rules/1") == .absent)
        #expect(machine.content(of: "/sys/a/b") == .absent)
        #expect(machine.status(of: "/sys/a") == nil)
        #expect(machine.content(of: "/secret") == .refused)
        #expect(machine.user == MachineUser(id: 0, name: "root", groups: [], sessionGroups: []))
        #expect(machine.space(at: "/etc/rules") == DiskSpace("5 - rw"))
        #expect(machine.text(of: .version) == nil)
    }

    @Test func directoriesThatAreNoMachine() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path
        #expect(throws: RecordedMachine.LoadError.unreadable(path: "\(path)/facts")) { try RecordedMachine(directory: path) }
        _ = try run(["sh", "-c", "printf 'user = 0 root\\nwrong\\n' > '\(path)/facts'; mkdir '\(path)/a'; echo 'base = a' > '\(path)/a/facts'"])
        #expect(throws: RecordedMachine.LoadError.wrongLine(path: "\(path)/facts", line: 2)) { try RecordedMachine(directory: path) }
        #expect(throws: RecordedMachine.LoadError.endless(path: "\(path)/a")) { try RecordedMachine(directory: "\(path)/a") }
    }

    @Test func messagesOfTheKernel() {
        let kmsg = KernelLog(
            path: "/dev/kmsg",
            text: "6,1,98765432,-;usb 1-1: USB disconnect, device number 7\n SUBSYSTEM=usb\n12,2,4000000000,-;last\nnonsense\n")
        #expect(kmsg.messages.map(\.seconds) == [98, 4000])
        #expect(kmsg.messages[0].text == "usb 1-1: USB disconnect, device number 7")
        #expect(kmsg.recent(uptime: 4100).map(\.text) == ["last"])
        let file = KernelLog(
            path: "/var/log/kern.log",
            text: """
                Nov 25 01:00:00 cat kernel: [ 9000.000001] usb 1-1: of an earlier start
                Nov 25 02:00:00 cat kernel: [    0.000000] Linux version 6.1.0
                2026-11-25T02:00:02.300+00:00 cat kernel: [   12.106001] usb 1-2: [x] attached
                """)
        #expect(file.messages.map(\.seconds) == [0, 12])
        #expect(file.messages[1].text == "usb 1-2: [x] attached")
    }

    @Test func factsOfThisMachine() throws {
        let machine = RunningMachine(known: [.version: "1"])
        #expect(machine.user.id == geteuid())
        #expect(machine.user.groups.contains(getegid()))
        #expect(machine.unixMilliseconds > 1_767_225_600_000)
        #expect(machine.text(of: .version) == "1")
        #expect(machine.text(of: .receiver) == nil)
        let null = try #require(machine.status(of: "/dev/null"))
        #expect(null.kind == .characterDevice && null.device == "1:3" && null.ownerID == 0)
        let absent = try TemporaryDirectory().path + "/file"
        #expect(machine.mayAccess("/dev/null", "rw") && !machine.mayAccess(absent, "r"))
        #expect(machine.content(of: absent) == .absent)
        #expect(machine.content(of: "/") == .refused)
        #expect(machine.contentText(of: "/proc/self/comm")?.isEmpty == false)
        #expect(try #require(machine.space(at: "/")).freeByteCount > 0)
        #expect(machine.resolved("/proc/self/exe").hasPrefix("/") && machine.resolved("/proc/self/exe") != "/proc/self/exe")
        #expect(machine.text(of: .process("no such process")) == nil)
        // Reading a long file gives its end.
        let folder = try TemporaryDirectory()
        _ = try run(["sh", "-c", "head -c 1500000 /dev/zero > '\(folder.path)/long'; echo end >> '\(folder.path)/long'"])
        guard case .bytes(let bytes) = machine.content(of: "\(folder.path)/long") else {
            Issue.record("the file is not read")
            return
        }
        #expect(bytes.count == 1 << 20 && bytes.suffix(4) == Array("end\n".utf8)[...])
    }

    /// The facts list the same ports as libudev, with the same properties.
    @Test func portsAreThoseOfLibudev() throws {
        let listed = try DeviceMonitor().allSerialDevices().sorted { $0.node < $1.node }
        #expect(RunningMachine(known: [:]).serialDevices().sorted { $0.node < $1.node } == listed)
    }
}
