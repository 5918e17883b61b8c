import CollarErrors
import Testing

@testable import CollarDoctor

/// Findings from the lines of the receiver's event log.
@Suite struct ReportFindingsTests {
    private static let collar = "910a2dec89025cc1"
    private static let log = "\(ChangedMachine.state)/events/00000001.jsonl"

    private static func line(_ members: String, minutesAgo: Int64 = 5) -> String {
        #"{"type":"error","unix_ms":\#(ChangedMachine.time - minutesAgo * 60_000),\#(members)}"# + "\n"
    }

    private static func link(_ event: String, _ port: String = "/dev/ttyUSB0") -> String {
        #"{"type":"link","unix_ms":\#(ChangedMachine.time),"event":"\#(event)","port":"\#(port)"}"# + "\n"
    }

    private func machine(_ lines: String...) throws -> ChangedMachine {
        let machine = try ChangedMachine()
        machine.files[Self.log] = lines.joined()
        return machine
    }

    @Test(arguments: [
        ("unknown_radio", true), ("radio_setting_refused", true), ("paired_elsewhere", true), ("key_missing", true), ("key_rejected", true),
        ("key_lost", true), ("collar_restarted", true), ("device_in_use", false), ("permission_denied", false), ("storage_failing", false),
        ("no_device", false), ("region_missing", false), ("radio_restarted", false), ("nonsense", false),
    ])
    func aReportOnWhichAPersonMustActIsTold(code: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.report([(code, "/dev/ttyUSB0", Self.collar, 5)])
        #expect(machine.findings.map(\.code.rawValue) == (isTold ? [code] : []))
        if isTold { #expect(machine.findings.first?.evidence == [Finding.Evidence(Self.log, "\(code), 5 minutes ago")]) }
    }

    @Test func reportsAreInTheOrderOfRepairNotOfTime() throws {
        let machine = try ChangedMachine()
        machine.report([
            ("collar_restarted", nil, Self.collar, 9), ("key_lost", nil, Self.collar, 8), ("unknown_radio", "/dev/ttyUSB0", nil, 7),
            ("paired_elsewhere", nil, Self.collar, 6), ("radio_setting_refused", "/dev/ttyUSB0", nil, 5),
        ])
        #expect(machine.codes == [.unknownRadio, .radioSettingRefused, .pairedElsewhere, .keyLost, .collarRestarted])
        #expect(machine.findings.map { $0.command?.text.contains(Self.collar) } == [nil, nil, true, nil, nil])
        #expect(machine.findings.suffix(2).allSatisfy { $0.remedy?.contains(Self.collar) == true })
    }

    @Test(arguments: [
        (#""code":"key_lost","reason":"It is so.","remedy":"Do it.""#, true), (#""code":"key_lost","reason":"It is so.""#, false),
        (#""code":"key_lost","remedy":"Do it.""#, false), (#""reason":"It is so.","remedy":"Do it.""#, false),
        (#""code":"key_lost","reason":7,"remedy":"Do it.""#, false),
        (#""code":"key_lost","reason":"It is so.","remedy":"Do it.","collar":"12""#, false),
        (#""code":"key_lost","reason":"It is so.","remedy":"Do it.","port":"ttyUSB0; reboot""#, false),
        (#""code":"key_lost","reason":"It is so.","remedy":"Do it.","port":"tcp://""#, false),
    ])
    func aLineThatNoReceiverWritesIsPassedOver(members: String, isTold: Bool) throws {
        let next = Self.line(#""code":"unknown_radio","reason":"It is so.","remedy":"Do it.","port":"tcp://barn:4001""#)
        let machine = try machine(Self.line(members), #"{"type":"error","# + "\n", next)
        #expect(machine.described == ["unknown_radio tcp://barn:4001"] + (isTold ? ["key_lost -"] : []))
    }

    @Test func onlyTheFilesOfTheEventLogAreRead() throws {
        let machine = try machine()
        let line = Self.line(#""code":"key_lost","reason":"It is so.","remedy":"Do it.""#)
        machine.files["\(ChangedMachine.state)/events/00000001.jsonl.old"] = line
        #expect(machine.codes == [])
        machine.files["\(ChangedMachine.state)/events/00000002.jsonl"] = line
        #expect(machine.codes == [.keyLost])
    }

    @Test func aLinkThatIsNotOpenedEndsNoReport() throws {
        let line = Self.line(#""code":"unknown_radio","reason":"It is so.","remedy":"Do it.","port":"/dev/ttyUSB0""#)
        #expect(try machine(line, Self.link("closed")).codes == [.unknownRadio])
        #expect(try machine(line, Self.link("opened", "/dev/ttyUSB1")).codes == [.unknownRadio])
        #expect(try machine(line, Self.link("opened")).codes == [])
        #expect(try machine(line, Self.link("opened"), line).codes == [.unknownRadio])
    }

    // MARK: Restarts

    /// A stick is opened again after each restart, so that does not end the count.
    @Test func restartsAreCountedOverTheOpeningsOfAPort() throws {
        let restart = Self.line(#""code":"radio_restarted","reason":"It is so.","port":"/dev/ttyUSB0""#)
        let opened = Self.link("opened")
        #expect(try machine(restart, opened, restart, opened).codes == [])
        #expect(try machine(restart, opened, restart, opened, restart, opened).codes == [.radioRestarted])
    }

    @Test(arguments: [("cp210x", true), ("ch341", true), ("ch341-uart", true), ("ftdi_sio", true), ("pl2303", true), ("cdc_acm", false)])
    func aBoardBehindABridgeIsRestartedByPrograms(driver: String, isBridge: Bool) throws {
        let machine = try ChangedMachine()
        machine.setUdev(["ID_USB_DRIVER": driver])
        machine.links["/dev/radio"] = "ttyUSB0"
        machine.facts["named-ports"] = "/dev/radio"
        machine.report((0..<3).map { ("radio_restarted", "/dev/radio", nil, Int64(30 - $0)) })
        #expect(machine.described == ["radio_restarted /dev/radio"])
        #expect(machine.commands == [isBridge ? "sudo fuser -v /dev/radio" : nil])
        #expect(machine.findings.first?.remedy?.contains("DTR") == isBridge)
    }
}
