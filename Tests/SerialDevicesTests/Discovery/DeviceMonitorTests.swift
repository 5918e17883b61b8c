import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// Properties that hold on every machine, whatever is plugged in. Hot-plug is tested end to end, under umockdev.
@Suite struct DeviceMonitorTests {
    @Test func quietMachineHasNothingToSay() throws {
        let monitor = try DeviceMonitor()
        #expect(!monitor.fileDescriptors.isEmpty && monitor.fileDescriptors.allSatisfy { $0 >= 0 })
        // A device may be plugged in during the test, so the test does not look at the result: the call only has to end.
        _ = monitor.drain()
    }

    /// Only where udevd cannot be seen are events and nodes both watched.
    @Test func everySourceOfChangesIsWatched() throws {
        let monitor = try DeviceMonitor()
        #expect(Set(monitor.fileDescriptors).count == (monitor.source == .kernel ? 2 : 1))
        #expect((monitor.source == .kernel) == !Udevd.isVisible)
    }

    @Test func onlyPortsWithHardwareAreListed() throws {
        let radio = try PseudoTerminal()
        let monitor = try DeviceMonitor()
        let ports = monitor.allSerialDevices()
        for port in ports {
            #expect(port.sysPath.hasPrefix("/sys/"))
            #expect(!port.sysPath.contains("/virtual/"))
            #expect(port.node != radio.path)
            #expect(port.sysPath.contains("/tty"))
        }
    }

    /// udevd hears the kernel; a program that listens to udevd, and a socket of another protocol, do not count.
    @Test func udevdIsKnownByItsSocket() {
        #expect(Udevd.hearsKernel("000000003f68e61f 15  90         00000001 0        0        0     2        0        9921    "))
        #expect(Udevd.hearsKernel("000000003f68e61f 15  90         00000003 0        0        0     2        0        9921    "))
        #expect(!Udevd.hearsKernel("00000000d826d854 15  91         00000002 0        0        0     2        0        9929    "))
        #expect(!Udevd.hearsKernel("00000000f5af1605 15  0          00000000 0        0        0     2        0        27      "))
        #expect(!Udevd.hearsKernel("00000000f5af1605 16  90         00000001 0        0        0     2        0        27      "))
        #expect(!Udevd.hearsKernel("sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode"))
        #expect(!Udevd.hearsKernel(""))
    }

    @Test func filesOfADirectoryAreNoticed() throws {
        let directory = try TemporaryDirectory()
        let watcher = try DirectoryWatcher(directory.path, namesBeginningWith: "c")
        #expect(!watcher.drain())
        _ = try directory.file("new")
        #expect(!watcher.drain())
        try directory.move("new", to: "c188:0")
        #expect(watcher.drain())
        #expect(!watcher.drain())
        try #require(unsafe unlink("\(directory.path)/c188:0") == 0)
        #expect(watcher.drain())
        #expect(throws: SystemError.self) { try DirectoryWatcher("\(directory.path)/nothing", namesBeginningWith: "c") }
    }
}
