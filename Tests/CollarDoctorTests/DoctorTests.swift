import CollarErrors
import FoundationEssentials
import LinuxSystem
import SerialDevices
import Testing

@testable import CollarDoctor

/// What `doctor` finds on the machines that are recorded in `Tests/Machines`.
///
/// A machine is a directory: the one that `collar-link doctor --record` writes, and a file `expected` with a line for each finding, in
/// their order (`CODE: COMMAND`, with `-` for none), and the exit code at the end.
@Suite struct DoctorTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Machines")

    private static var machines: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { !$0.contains(".") }.sorted()
    }

    private static func diagnosis(_ name: String) throws -> Diagnosis {
        Doctor.diagnosis(of: try RecordedMachine(directory: folder.appending(path: name).path))
    }

    @Test(arguments: machines) func everyMachineIsDiagnosed(name: String) throws {
        let diagnosis = try Self.diagnosis(name)
        let found = diagnosis.findings.map { "\($0.code.rawValue): \($0.command?.text ?? "-")" } + ["exit \(diagnosis.exitCode.rawValue)"]
        let expected = try String(contentsOfFile: Self.folder.appending(path: "\(name)/expected").path, encoding: .utf8)
        #expect(found == expected.split(separator: "\n").map(String.init), "\(name)")
    }

    @Test func everyCodeHasAMachine() throws {
        let found = try Self.machines.flatMap { try Self.diagnosis($0).findings.map(\.code) }
        let missing = Set(FindingCode.allCases).subtracting(found).map(\.rawValue).sorted()
        #expect(missing.isEmpty)
    }

    @Test func everyFindingSaysWhatItIsBasedOnAndWhatToDo() throws {
        for name in Self.machines {
            for finding in try Self.diagnosis(name).findings {
                #expect(!finding.evidence.isEmpty && !finding.reason.isEmpty, "\(name): \(finding.code)")
                #expect(finding.evidence.allSatisfy { !$0.place.isEmpty && !$0.value.isEmpty }, "\(name): \(finding.code)")
                #expect(finding.command?.text.isEmpty == false || finding.remedy?.isEmpty == false, "\(name): \(finding.code)")
                // A reason may begin with a path or the name of a program. What a receiver reported stays as it was written.
                for text in [finding.reason, finding.remedy ?? "."] where name != "reports-with-commands" {
                    #expect([".", "?", "…"].contains(text.last), "\(name): \(text)")
                    let start = ["/", "udev", "brltty", "gpsd", "alice"].contains { text.hasPrefix($0) }
                    #expect(start || text.first.map { $0.isUppercase || "`'.".contains($0) } == true, "\(name): \(text)")
                }
            }
        }
    }

    /// A name or a report is text that others wrote: it is shown as one, and is no command.
    @Test func whatOthersWroteIsNoCommand() throws {
        for (name, words) in [("holder-with-a-command-as-name", "`sudo"), ("reports-with-commands", "/tmp/evil")] {
            let diagnosis = try Self.diagnosis(name)
            let lines = diagnosis.text.map(\.text) + diagnosis.findings.map { String(decoding: $0.line, as: UTF8.self) }
            #expect(!lines.contains { $0.contains(words) }, "\(lines)")
        }
    }

    @Test func aSoundMachineIsOneLine() throws {
        #expect(try Self.diagnosis("sound").text.map(\.text) == ["nothing to do: /dev/ttyUSB0 can be used"])
    }

    /// A code that is also an error's means the same: it is as severe, and gives the same exit code.
    @Test func codesOfErrorsAgree() {
        var sharedCount = 0
        for code in FindingCode.allCases {
            guard let error = ErrorCode(rawValue: code.rawValue) else { continue }
            sharedCount += 1
            #expect(code.severity == error.severity, "\(code)")
            if let exit = error.exitCode { #expect(code.exitCode == exit, "\(code)") }
        }
        #expect(sharedCount > 10)
    }

    /// Fixing the first error changes nothing about the findings after it, so the order is that of the list of checks.
    @Test func theExitCodeIsThatOfTheFirstError() throws {
        let diagnosis = try Self.diagnosis("many-faults")
        #expect(diagnosis.findings.map(\.code) == [.ruleMissing, .permissionDenied, .deviceInUse, .storageFailing, .autosuspend])
        #expect(diagnosis.exitCode == .configuration)
        #expect(diagnosis.text.last?.text == "4 errors, 1 warning: fix them in this order, and run `collar-link doctor` again")
    }

    /// A key that the group or others can read or change is reported.
    @Test(arguments: [
        ("600", nil), ("400", nil), ("640", "read"), ("604", "read"), ("660", "read"), ("620", "change"), ("602", "change"),
    ]) func aKeyThatOthersCanUseIsTold(mode: String, verb: String?) throws {
        let findings = Doctor.diagnosis(of: try MachineWithKey(mode: mode)).findings
        #expect(findings.map(\.code) == (verb == nil ? [] : [.keyExposed]))
        guard let verb, let finding = findings.first else { return }
        #expect(finding.reason.hasPrefix("Other users can \(verb) the key of collar 910a2dec89025cc1"))
        #expect(finding.command?.text == "chmod 600 \(MachineWithKey.path)")
        #expect(finding.evidence.first?.value.hasPrefix("mode \(mode)") == true, "\(finding.evidence)")
    }

    /// What is recorded is all that the checks look at: the copy is diagnosed like the machine.
    @Test(arguments: machines) func aCopyIsDiagnosedLikeTheMachine(name: String) throws {
        let recorder = Doctor.recorder(of: try RecordedMachine(directory: Self.folder.appending(path: name).path))
        let diagnosis = Doctor.diagnosis(of: recorder)
        let copy = FileManager.default.temporaryDirectory.appending(path: "machine-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try recorder.write(to: copy)
        #expect(Doctor.diagnosis(of: try RecordedMachine(directory: copy)) == diagnosis)
        #expect(throws: SystemError.self) { try recorder.write(to: copy) }
    }

    /// A copy that a person sends to somebody has no position, no key and no receiver's identity.
    @Test func secretsAreNotRecorded() throws {
        let secret = "00112233445566778899aabbccddeeff"
        let machine = try MachineWithSecrets(secret: secret)
        let recorder = Doctor.recorder(of: machine)
        let diagnosis = Doctor.diagnosis(of: recorder)
        #expect(diagnosis.findings.map(\.code) == [.keyExposed, .unknownRadio])
        let copy = FileManager.default.temporaryDirectory.appending(path: "machine-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try recorder.write(to: copy)
        var fileCount = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: copy) {
            guard let content = try? String(contentsOfFile: "\(copy)/\(path)", encoding: .utf8) else { continue }
            fileCount += 1
            #expect(!content.contains(secret) && !content.contains("latitude") && !content.contains("eth0"), "\(path)")
        }
        #expect(fileCount > 10)
    }
}

/// The sound machine, with a key file of a mode.
private final class MachineWithKey: MachineFacts {
    static let path = "/home/alice/.local/state/collar-link/keys/910a2dec89025cc1"
    private let base: RecordedMachine
    private let mode: String

    init(mode: String) throws {
        self.mode = mode
        base = try RecordedMachine(
            directory: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Machines/key-exposed").path)
    }

    func content(of path: String) -> FileContent { base.content(of: path) }
    func names(in directory: String) -> [String] { base.names(in: directory) }
    func linkTarget(of path: String) -> String? { base.linkTarget(of: path) }
    func text(of fact: MachineFact) -> String? {
        fact.key == MachineFact.status(Self.path).key ? "f \(mode) 1000 1000 0:0 1795560000" : base.text(of: fact)
    }
}

/// The sound machine, with what nobody should send to others.
private final class MachineWithSecrets: MachineFacts {
    private static let state = "/home/alice/.local/state/collar-link"
    private let base: RecordedMachine
    private let secret: String

    init(secret: String) throws {
        self.secret = secret
        base = try RecordedMachine(
            directory: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Machines/key-exposed").path)
    }

    func content(of path: String) -> FileContent {
        switch path {
        case "\(Self.state)/receiver", "\(Self.state)/keys/910a2dec89025cc1": return .bytes(Array("\(secret)\n".utf8))
        case "\(Self.state)/events/00000001.jsonl":
            return .bytes(
                Array(
                    (#"{"type":"result","unix_ms":1795567100000,"latitude":50.1}"# + "\n"
                        + #"{"type":"error","unix_ms":1795567100000,"code":"unknown_radio","reason":"text","remedy":"text"}"# + "\n").utf8))
        case "/dev/kmsg": return .bytes(Array("6,1,1000000,-;eth0: link up\n6,2,2000000,-;usb 1-2: new device\n".utf8))
        default: return base.content(of: path)
        }
    }

    func names(in directory: String) -> [String] {
        directory == "\(Self.state)/events" ? ["00000001.jsonl"] : base.names(in: directory)
    }

    func linkTarget(of path: String) -> String? { base.linkTarget(of: path) }
    func text(of fact: MachineFact) -> String? { base.text(of: fact) }
}
