import CollarPorts
import Glibc
import Testing

@testable import SerialDevices

/// Obstacles of which several hold at once, and the command that helps against each.
@Suite struct ObstacleOrderTests {
    /// The obstacle of an ordinary user at a node of the group dialout, unless something else is said.
    private func obstacle(
        owner: String = "root", group: UInt32 = 20, mode: UInt32 = 0o660, hasNode: Bool = true, errno: Int32 = EACCES,
        isGranted: Bool = false, session: [UInt32] = [1000], listed: [UInt32] = [1000], isBusy: Bool = false
    ) -> PermissionObstacle {
        let node = (mode: 0o020000 | mode, owner: owner, group: group, groupName: "dialout")
        return PermissionFacts(
            errno: errno, accessIsGranted: isGranted, node: hasNode ? node : nil, user: "alice", processGroups: session,
            databaseGroups: listed, udevdIsBusy: isBusy, unmappedGroup: 65_534
        ).obstacle
    }

    @Test func whatAContainerForbidsGoesBeforeTheNode() {
        let found = [
            obstacle(hasNode: false, errno: EPERM), obstacle(hasNode: false, isGranted: true), obstacle(owner: "alice", errno: EPERM),
            obstacle(owner: "alice", group: 65_534), obstacle(group: 65_534, mode: 0o600),
            obstacle(owner: "bob", session: [20], listed: [20]),
        ]
        #expect(found == Array(repeating: .containerOrSecurityModule, count: found.count))
    }

    @Test(arguments: [0, 20] as [UInt32]) func theOwnerIsToldSoWhateverTheGroupIs(group: UInt32) {
        #expect(obstacle(owner: "alice", group: group, mode: 0o060) == .ownerExcluded(mode: 0o060, user: "alice"))
    }

    @Test func aGroupOfAnotherOwnerCanBeJoined() {
        #expect(obstacle(owner: "bob") == .notInGroup(group: "dialout", user: "alice"))
        #expect(obstacle(owner: "bob", listed: [20]) == .notLoggedInAgain(group: "dialout", user: "alice"))
        #expect(obstacle(owner: "bob", group: 0) == .onlyOwner(user: "bob"))
        #expect(obstacle(hasNode: false, isBusy: true) == .notSetYet)
    }

    @Test(arguments: [
        (.notInGroup(group: "g", user: "u"), "/dev/ttyUSB0", "sudo usermod -aG g u"),
        (.notLoggedInAgain(group: "g", user: "u"), "/dev/ttyUSB0", "newgrp g"),
        (.onlyOwner(user: "root"), "/dev/ttyS0", "sudo chgrp dialout /dev/ttyS0 && sudo chmod 660 /dev/ttyS0"),
        (.onlyOwner(user: "root"), "/dev/ttyUSB0", RuleInstallation.command().text),
        (.onlyOwner(user: "root"), "/dev/ttyACM3", RuleInstallation.command().text),
        (.onlyOwner(user: "root"), "/dev/serial/by-id/x", RuleInstallation.command().text),
        (.onlyOwner(user: "root"), "/dev/serial/by-path/x", RuleInstallation.command().text),
        (.onlyOwner(user: "bob"), "/dev/ttyS0", "sudo -u bob collar-link --port /dev/ttyS0"),
        (.modeChanged(mode: 0o600, group: "g", user: "u"), "/dev/ttyUSB0", "sudo chmod 660 /dev/ttyUSB0"),
        (.ownerExcluded(mode: 0o060, user: "u"), "/dev/ttyUSB0", "chmod u+rw /dev/ttyUSB0"),
    ] as [(PermissionObstacle, String, String)])
    func eachObstacleHasItsCommand(obstacle: PermissionObstacle, path: String, command: String) {
        #expect(SerialPortError.permissionDenied(path: path, obstacle: obstacle).message.command?.text == command)
    }

    @Test(arguments: [
        ("ModemManager", "sudo systemctl stop ModemManager"), ("gpsd", "sudo systemctl stop gpsd.socket gpsd.service"),
        ("brltty", "sudo systemctl stop brltty-udev.service brltty.service"), ("gpsd2", "kill 7"), (nil, "sudo fuser -v /dev/x"),
    ] as [(String?, String)])
    func aServiceIsStoppedAndAProgramIsEnded(name: String?, command: String) {
        let holder = name.map { ProcessHolder(processID: 7, name: $0) }
        #expect(SerialPortError.busy(path: "/dev/x", holder: holder).message.command?.text == command)
    }

    /// Any user chooses the names of the own processes.
    @Test(arguments: [
        ("cat", "cat"), ("a b", #""a b""#), ("", #""""#), ("a`b", #""a\u{60}b""#), ("a\"b", #""a\u{22}b""#), (#"a\b"#, #""a\u{5c}b""#),
        ("a\u{1B}b", #""a\u{1b}b""#), ("ä\u{202E}", #""ä\u{202e}""#),
    ])
    func aNameThatCouldLookLikeACommandIsQuoted(name: String, shown: String) {
        #expect(ProcessHolder(processID: 7, name: name).shownName == shown)
        #expect(ProcessHolder.description(of: ProcessHolder(processID: 7, name: name)) == "\(shown) (process 7)")
    }

    @Test func eachErrorHasItsCode() {
        let errors: [SerialPortError] = [
            .notFound(path: "a"), .replaced(path: "a", by: "b"), .disconnected(path: "a"), .notATerminal(path: "a"),
            .busy(path: "a", holder: nil), .permissionDenied(path: "a", obstacle: .notSetYet), .system(path: "a", operation: "o", errno: 5),
        ]
        let codes = ["no_device", "no_device", "no_device", "not_a_serial_port", "device_in_use", "permission_denied", "port_failed"]
        #expect(errors.map(\.code.rawValue) == codes)
        #expect(errors.map { $0.message.code?.rawValue } == codes)
    }
}
