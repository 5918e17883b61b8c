import CollarPorts
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// The reason for a refused open, derived from facts alone.
@Suite struct PermissionObstacleTests {
    /// An ordinary user who is not in group dialout opens a node of that group.
    private func facts(change: (inout PermissionFacts) -> Void) -> PermissionFacts {
        var facts = PermissionFacts(
            errno: EACCES, accessIsGranted: false,
            node: (mode: 0o020660, owner: "root", group: 20, groupName: "dialout"), user: "alice",
            processGroups: [1000], databaseGroups: [1000], unmappedGroup: 65_534)
        change(&facts)
        return facts
    }

    @Test func notInTheGroup() {
        #expect(facts(change: { _ in }).obstacle == .notInGroup(group: "dialout", user: "alice"))
    }

    @Test func inTheGroupSinceThisSessionBegan() {
        let facts = facts { $0.databaseGroups.append(20) }
        #expect(facts.obstacle == .notLoggedInAgain(group: "dialout", user: "alice"))
    }

    @Test(arguments: [0o600, 0o620, 0o640, 0o644]) func noGroupMayUseIt(mode: UInt32) {
        #expect(facts(change: { $0.node?.mode = 0o020000 | mode }).obstacle == .onlyOwner(user: "root"))
    }

    /// A member of the group is neither told to join it nor to log in again.
    @Test(arguments: [0o600, 0o620, 0o640, 0o644, 0o000]) func theModeWasChanged(mode: UInt32) {
        let changed = PermissionObstacle.modeChanged(mode: mode, group: "dialout", user: "alice")
        var facts = facts { $0.node?.mode = 0o020000 | mode }
        facts.processGroups = [1000, 20]
        #expect(facts.obstacle == changed)
        (facts.processGroups, facts.databaseGroups) = ([1000], [1000, 20])
        #expect(facts.obstacle == changed)
        facts.node?.owner = "bob"
        #expect(facts.obstacle == .onlyOwner(user: "bob"), "a node of another user is that user's own")
    }

    /// The owner's groups make no difference: for the owner, only the first digit of the mode counts.
    @Test(arguments: [0o440, 0o060, 0o260, 0o400] as [UInt32], [[1000], [1000, 20]] as [[UInt32]])
    func theModeKeepsTheOwnerOut(mode: UInt32, groups: [UInt32]) {
        let facts = facts {
            $0.node?.owner = "alice"
            $0.node?.mode = 0o020000 | mode
            $0.processGroups = groups
        }
        #expect(facts.obstacle == .ownerExcluded(mode: mode, user: "alice"))
    }

    @Test func nobodyIsToldToJoinRoot() {
        #expect(facts(change: { $0.node?.group = 0 }).obstacle == .onlyOwner(user: "root"))
        // The same holds for a member of root's group.
        var facts = facts { $0.node?.group = 0 }
        facts.node?.mode = 0o020600
        facts.processGroups = [0]
        #expect(facts.obstacle == .onlyOwner(user: "root"))
    }

    @Test func directoryIsInTheWay() {
        #expect(facts(change: { $0.node = nil }).obstacle == .directory)
    }

    @Test func somethingElseRefuses() {
        for change: (inout PermissionFacts) -> Void in [
            { $0.accessIsGranted = true },
            { $0.errno = EPERM },
            { $0.processGroups.append(20) },
            { $0.node?.group = 65_534 },
        ] {
            #expect(facts(change: change).obstacle == .containerOrSecurityModule)
        }
    }

    /// Whatever the permissions are before udevd sets them, they are no obstacle yet.
    @Test func udevdHasNotFinished() {
        #expect(facts(change: { $0.udevdIsBusy = true }).obstacle == .notSetYet)
        #expect(facts(change: { ($0.udevdIsBusy, $0.accessIsGranted) = (true, true) }).obstacle == .notSetYet)
        #expect(
            facts(change: { ($0.udevdIsBusy, $0.errno) = (true, EPERM) }).obstacle == .containerOrSecurityModule,
            "udevd does not change what a container forbids")
    }

    @Test func factsOfThisMachineAreGathered() throws {
        let facts = PermissionFacts(opening: "/dev/null", errno: EACCES)
        #expect(facts.accessIsGranted)
        #expect(facts.node?.owner == "root")
        #expect(facts.node?.groupName == "root")
        #expect(facts.user == UserDatabase.userName(geteuid()))
        #expect(facts.processGroups.contains(getegid()))
        #expect(PermissionFacts(opening: try TemporaryDirectory().path + "/node", errno: EACCES).node?.owner == nil)
        // Every machine has an entry for root.
        #expect(UserDatabase.userName(0) == "root")
        #expect(UserDatabase.groups(of: 0).contains(0))
        #expect(UserDatabase.userName(4_123_456_789) == "4123456789")
    }
}
