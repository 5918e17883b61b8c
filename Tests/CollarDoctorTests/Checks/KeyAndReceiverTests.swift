import CollarErrors
import Testing

@testable import CollarDoctor

/// The files of keys, and the receiver that runs.
@Suite struct KeyAndReceiverTests {
    private static let folder = "\(ChangedMachine.state)/keys"

    private func machine(_ keys: (name: String, mode: String?, access: String)...) throws -> ChangedMachine {
        let machine = try ChangedMachine()
        for key in keys {
            let path = "\(Self.folder)/\(key.name)"
            machine.files[path] = "x"
            machine.facts["status \(path)"] = .some(key.mode.map { "f \($0) 1000 1000 0:0 1795560000" })
            machine.facts["access \(path)"] = key.access
        }
        return machine
    }

    @Test func aKeyOfWhichNothingIsKnownDoesNotHideTheNext() throws {
        let machine = try machine(("0000000000000001", nil, ""), ("0000000000000002", "644", "rw"), ("12", "666", "rw"))
        #expect(machine.commands == ["chmod 600 \(Self.folder)/0000000000000002"])
    }

    /// A file whose name has capitals is no key yet, and one that others may read has to be closed before it is used.
    @Test func ofSeveralFaultsOfOneKeyTheFirstIsTold() throws {
        #expect(try machine(("000000000000000A", "666", "")).commands == [
            "mv \(Self.folder)/000000000000000A \(Self.folder)/000000000000000a",
        ])
        #expect(try machine(("000000000000000a", "644", "")).codes == [.keyExposed])
        let unreadable = try machine(("000000000000000a", "600", "w"))
        #expect(unreadable.codes == [.keyUnusable])
        #expect(unreadable.commands == [
            "sudo chown alice \(Self.folder)/000000000000000a && sudo chmod 600 \(Self.folder)/000000000000000a",
        ])
    }

    // MARK: The receiver

    @Test(arguments: [
        ("silent", [.receiverSilent]), ("denied", [.receiverOutdated]), (nil, [.receiverOutdated]),
        (#"{"type":"figures","unix_ms":1795567200000}"#, [.receiverOutdated]),
    ] as [(String?, [FindingCode])])
    func aReceiverThatAnswersOrRefusesToIsNotSilent(answer: String?, codes: [FindingCode]) throws {
        let machine = try ChangedMachine("receiver-outdated")
        machine.facts["receiver"] = .some(answer)
        #expect(machine.codes == codes)
    }

    @Test(arguments: ["", "0", "-4711", "4711 x", "4711x", "99999999999"]) func aLockWithoutAProcessNamesNoReceiver(lock: String) throws {
        let machine = try ChangedMachine("receiver-outdated")
        machine.facts["holder /dev/ttyUSB0"] = .some(nil)
        #expect(machine.codes == [.receiverOutdated])
        machine.files["\(ChangedMachine.state)/lock"] = lock + "\n"
        machine.files["/proc/\(lock)/comm"] = "collar-link\n"
        machine.links["/proc/\(lock)/exe"] = "/usr/bin/collar-link (deleted)"
        #expect(machine.codes == [])
    }

    @Test(arguments: [("/usr/bin/collar-link (deleted)", true), ("/usr/bin/collar-link", false), ("/opt/a (deleted)/collar-link", false)])
    func aProgramThatWasReplacedHasAMarkAtItsEnd(target: String, isOutdated: Bool) throws {
        let machine = try ChangedMachine("receiver-outdated")
        machine.links["/proc/4711/exe"] = target
        #expect(machine.codes == (isOutdated ? [.receiverOutdated] : []))
    }
}
