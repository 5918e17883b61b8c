import SerialDevices
import Testing

@testable import CollarDoctor

/// The values that facts have as texts, and the serial ports that files of the kernel and of udev describe.
@Suite struct MachineValuesTests {
    @Test(arguments: [
        ("c 660 0 20 188:0 1764000000", true), ("d 1777 0 0 0:0 -1", true), ("x 660 0 20 188:0 1", false), ("c 680 0 20 188:0 1", false),
        ("c 660 -1 20 188:0 1", false), ("c 660 0 4294967296 188:0 1", false), ("c 660 0 20 188:0", false), ("c 660 0 20 188:0 1 2", false),
        ("c 660 0 20 188:0 soon", false), ("", false),
    ])
    func aStatusHasSixParts(text: String, isRead: Bool) { #expect((FileStatus(text) != nil) == isRead) }

    @Test func theNumbersOfAStatusHaveTheirPlaces() throws {
        let status = try #require(FileStatus("f 4750 7 20 8:1 1764000000"))
        #expect((status.kind, status.mode) == (.regularFile, 0o4750))
        #expect((status.ownerID, status.groupID, status.device, status.changedUnixSeconds) == (7, 20, "8:1", 1_764_000_000))
    }

    @Test(arguments: [
        ("5 7 rw", 7, false), ("5 7 ro", 7, true), ("5 - rw", nil, false), ("5 -3 rw", nil, false), ("5 7 other", 7, false),
    ] as [(String, Int64?, Bool)])
    func theRoomOfADiskIsRead(text: String, files: Int64?, isReadOnly: Bool) throws {
        let space = try #require(DiskSpace(text))
        #expect((space.freeByteCount, space.freeFileCount, space.isReadOnly) == (5, files, isReadOnly))
    }

    @Test(arguments: ["", "5 7", "-5 7 rw", "x 7 rw", "5 7 rw x"])
    func anotherTextIsNoRoom(text: String) { #expect(DiskSpace(text) == nil) }

    @Test func theUserAndTheHolderMayHaveNamesOfSeveralWords() throws {
        let machine = try ChangedMachine()
        machine.facts = ["user": "1001 bob b", "groups": "5 x 6 -1", "session-groups": "7", "holder /dev/a": "812 Web Content"]
        #expect(machine.user == MachineUser(id: 1001, name: "bob b", groups: [5, 6], sessionGroups: [7]))
        #expect(machine.holder(of: "/dev/a").map { [String($0.processID), $0.name] } == ["812", "Web Content"])
        for key in ["user", "groups", "session-groups", "time"] { machine.facts[key] = .some(nil) }
        machine.facts["holder /dev/a"] = "0 init"
        #expect(machine.user == MachineUser(id: 65_534, name: "nobody", groups: [], sessionGroups: []))
        #expect(machine.unixMilliseconds == 0 && machine.holder(of: "/dev/a") == nil)
    }

    @Test(arguments: [
        ("/a/link/x", "/a/target/x"), ("/a/absolute/x", "/b/x"), ("/a/up/x", "/x"), ("/../../a/./link", "/a/target"),
        ("/a/twice/x", "/b/x"), ("/a/link/../x", "/a/x"), ("/a/nothing/..//x/", "/a/x"), ("/", "/"),
    ])
    func linksOfAPathAreFollowedOneAfterAnother(path: String, resolved: String) throws {
        let machine = try ChangedMachine()
        machine.links = ["/a/link": "target", "/a/absolute": "/b", "/a/up": "../.", "/a/twice": "../a/absolute"]
        #expect(machine.resolved(path) == resolved)
    }

    @Test func asManyLinksAreFollowedAsTheKernelFollows() throws {
        let machine = try ChangedMachine()
        machine.links = Dictionary(uniqueKeysWithValues: (0..<60).map { ("/l/\($0)", "\($0 + 1)") })
        #expect(machine.resolved("/l/20") == "/l/60")
        #expect(machine.resolved("/l/19") == "/l/59")
        machine.links = ["/loop": "/loop/x"]
        #expect(machine.resolved("/loop").hasPrefix("/loop/x"))
    }

    // MARK: Serial ports

    private static let event = "\(ChangedMachine.usb)/1-2:1.0/ttyUSB0/tty/ttyUSB0/uevent"

    private func nodes(_ machine: ChangedMachine) -> [String] { machine.serialDevices().map(\.node) }

    @Test func terminalsWithoutHardwareAreNoSerialPorts() throws {
        let machine = try ChangedMachine()
        #expect(nodes(machine) == ["/dev/ttyS0", "/dev/ttyUSB0"])
        for name in ["tty", "tty1", "tty63", "ttyprintk"] {
            machine.links["/sys/class/tty/\(name)"] = "../../devices/virtual/tty/\(name)"
            machine.files["/sys/devices/virtual/tty/\(name)/uevent"] = "DEVNAME=\(name)\n"
        }
        // A terminal with a number for a name has no type that says so.
        for name in ["tty", "tty1"] { machine.links["/sys/class/tty/\(name)"] = "../../devices/pnp0/00:01/tty/ttyS0" }
        machine.links["/sys/class/tty/rfcomm0"] = "../../devices/pnp0/00:01/tty/rfcomm0"
        machine.files["/sys/devices/pnp0/00:01/tty/rfcomm0/uevent"] = "DEVNAME=rfcomm0\n"
        #expect(nodes(machine) == ["/dev/rfcomm0", "/dev/ttyS0", "/dev/ttyUSB0"])
        machine.files["/sys/devices/pnp0/00:01/tty/ttyS0/type"] = "0\n"
        #expect(nodes(machine) == ["/dev/rfcomm0", "/dev/ttyUSB0"])
    }

    @Test func theNameOfANodeComesFromTheEventOfTheKernel() throws {
        let machine = try ChangedMachine()
        machine.files[Self.event] = "MAJOR=188\nDEVNAME=usb/radio=1\n"
        #expect(nodes(machine).last == "/dev/usb/radio=1")
        machine.files[Self.event] = "DEVNAME=/dev/radio\n"
        #expect(nodes(machine).last == "/dev/radio")
        machine.files[Self.event] = "MAJOR=188\n"
        #expect(nodes(machine).last == "/dev/ttyUSB0")
    }

    /// Properties that udev has stored take precedence over those of the kernel's event. Without either, the files of the USB device count.
    @Test func thePropertiesOfAPortHaveTheirOrder() throws {
        let machine = try ChangedMachine()
        machine.files[Self.event] = "DEVNAME=ttyUSB0\nID_VENDOR_ID=1111\nCOLLAR_LINK=0\nE:ID_MODEL=x\n"
        machine.setUdev(["ID_MODEL": "A=B"])
        let stored = try #require(machine.serialDevices().last)
        #expect((stored.vendorID, stored.model, stored.isCollarRadio, stored.serialShort) == ("10c4", "A=B", true, "7c98a1f3"))
        #expect(machine.udevProperties(of: stored)["ID_MODEL"] == "A=B")
        machine.remove("/run/udev/data/c188:0")
        let event = try #require(machine.serialDevices().last)
        #expect((event.vendorID, event.model, event.serialShort) == ("1111", nil, nil))
        #expect(machine.udevProperties(of: event)["ID_VENDOR_ID"] == "1111")
        machine.files[Self.event] = "DEVNAME=ttyUSB0\n"
        machine.links["\(ChangedMachine.usb)/1-2:1.0/ttyUSB0/driver"] = "../../../../bus/usb-serial/drivers/ch341-uart"
        let plain = try #require(machine.serialDevices().last)
        #expect((plain.vendorID, plain.model, plain.serialShort, plain.driver) == ("10c4", "CP2102N", "7c98a1f3", "ch341-uart"))
    }

    @Test func aMessageOfTheKernelMayHaveTheMarksOfBothForms() {
        let lines = [
            "2026-11-25T02:00:00+00:00 cat kernel: [   12.5] usb 1-2: one; [two]", "6,1,13000000,-;usb 1-2: a; b [1]",
            "x,1,14000000,-;usb 1-2: no priority", "6,1,-1,-;usb 1-2: no time", "6,1,15000000;usb 1-2: too short",
            "[ -1.0] usb 1-2: before",
        ]
        let messages = KernelLog(path: "/dev/kmsg", text: lines.joined(separator: "\n")).messages
        let shown = messages.filter { $0.seconds >= 0 }.map { "\($0.seconds) \($0.text)" }
        #expect(shown == ["12 usb 1-2: one; [two]", "13 usb 1-2: a; b [1]"])
    }
}
