import CollarErrors
import Testing

@testable import CollarDoctor

/// Findings and diagnoses as lines of JSON and for a person.
@Suite struct FindingTextTests {
    private func diagnosis(_ codes: FindingCode..., ports: [String] = [], unexamined: [String] = []) -> Diagnosis {
        Diagnosis(
            findings: codes.map { Finding($0, "It is so.", evidence: []) }, ports: ports, unexamined: unexamined, version: "1.2.3",
            kernel: nil)
    }

    private func text(_ line: [UInt8]) -> String { String(decoding: line, as: UTF8.self) }

    @Test func aFindingHasItsPortOnlyIfItIsAboutOne() {
        let command = ShellCommand("chmod", "600", "/a b")
        let full = Finding(
            .keyExposed, port: "/dev/a", "It is so.", evidence: [.init("/a", "1"), .init("/b", "2")], command: command, remedy: "Do it.")
        let rest = #""reason":"It is so.","evidence":[{"place":"/a","value":"1"},{"place":"/b","value":"2"}],"#
            + #""command":"chmod 600 '/a b'","remedy":"Do it."}"#
        #expect(text(full.line) == #"{"type":"finding","code":"key_exposed","severity":"error","port":"/dev/a","# + rest + "\n")
        let bare = Finding(.usb3Noise, "It is so.", evidence: [])
        #expect(
            text(bare.line)
                == #"{"type":"finding","code":"usb3_noise","severity":"info","reason":"It is so.","evidence":[],"command":null,"#
                + #""remedy":null}"# + "\n")
    }

    @Test func aDiagnosisCountsItsFindings() {
        // One of the errors is critical.
        let codes: [FindingCode] = [.clockWrong, .storageFailing, .autosuspend, .usbErrors, .latencyTimer, .usb3Noise]
        let diagnosis = Diagnosis(
            findings: codes.map { Finding($0, "It is so.", evidence: []) }, ports: ["/dev/a", "/dev/b"], unexamined: ["x"],
            version: "1.2.3", kernel: "6.1")
        #expect(
            text(diagnosis.line)
                == #"{"type":"diagnosis","exit":78,"errors":2,"warnings":3,"infos":1,"ports":["/dev/a","/dev/b"],"unexamined":["x"],"#
                + #""version":"1.2.3","kernel":"6.1"}"# + "\n")
    }

    @Test func theLastLineSaysHowMuchThereIsToDo() {
        func last(_ diagnosis: Diagnosis) -> String? { diagnosis.text.last?.text }
        #expect(last(diagnosis()) == "nothing to do")
        #expect(last(diagnosis(.usb3Noise, ports: ["/dev/a", "/dev/b"])) == "nothing to do: /dev/a, /dev/b can be used")
        #expect(last(diagnosis(.clockWrong, ports: ["/dev/a"])) == "1 error: fix it, and run `collar-link doctor` again")
        #expect(last(diagnosis(.autosuspend, .usb3Noise)) == "1 warning: fix it, and run `collar-link doctor` again")
        let several = "fix them in this order, and run `collar-link doctor` again"
        #expect(last(diagnosis(.autosuspend, .usbErrors)) == "2 warnings: \(several)")
        #expect(last(diagnosis(.clockWrong, .usbErrors)) == "1 error, 1 warning: \(several)")
        let unexamined = last(diagnosis(.usbErrors, unexamined: ["a", "b"]))
        #expect(unexamined?.hasSuffix(" again (not examined, because this user may not: a, b)") == true)
    }

    @Test func aCommandIsTheFixAndWordsBesideItAreANote() {
        let diagnosis = Diagnosis(
            findings: [
                Finding(.clockWrong, "One.", evidence: [.init("clock", "0")], command: ShellCommand("date"), remedy: "Or wait."),
                Finding(.noDevice, "Two.", evidence: [], remedy: "Plug it in."), Finding(.usb3Noise, "Three.", evidence: []),
            ], ports: [], unexamined: [], version: "1", kernel: nil)
        let lines = diagnosis.text
        #expect(lines.dropLast().map(\.text) == [
            "1. error: One. [clock_wrong]", "   seen:    clock: 0", "   fix:     date", "   note:    Or wait.",
            "2. \(FindingCode.noDevice.severity.rawValue): Two. [no_device]", "   fix:     Plug it in.", "3. info: Three. [usb3_noise]",
        ])
        #expect(lines.map(\.severity) == [.error, nil, nil, nil, FindingCode.noDevice.severity, nil, .info, nil])
    }

    @Test func aDiagnosisHasTheVersionsOfTheProgramAndOfTheKernel() throws {
        let machine = try ChangedMachine()
        var diagnosis = Doctor.diagnosis(of: machine)
        #expect((diagnosis.version, diagnosis.kernel) == ("0.1.0", "6.1.0-28-amd64"))
        machine.facts["version"] = .some(nil)
        machine.remove("/proc/sys/kernel/osrelease")
        diagnosis = Doctor.diagnosis(of: machine)
        #expect((diagnosis.version, diagnosis.kernel) == ("unknown", nil))
    }

    /// Findings that do not hinder the work come last, in the order of the checks.
    @Test func whatMattersKeepsItsOrderBeforeTheRest() throws {
        let machine = try ChangedMachine("only-while-seated")
        machine.remove("\(ChangedMachine.usb)/serial")
        machine.files["\(ChangedMachine.usb)/power/control"] = "auto\n"
        machine.facts["time"] = "0"
        #expect(machine.codes == [.clockWrong, .autosuspend, .onlyWhileSeated, .serialMissing])
    }
}
