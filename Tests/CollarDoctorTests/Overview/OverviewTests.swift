import CollarConfiguration
import CollarFormats
import Testing

@testable import CollarDoctor

@Suite("The overview as a line of JSON")
struct OverviewLineTests {
    private func text(_ overview: Overview) -> String { String(decoding: overview.line, as: UTF8.self) }

    @Test("nothing is stored, and nothing runs")
    func empty() {
        #expect(
            text(overview(.stopped))
                == #"{"type":"overview","unix_ms":1699401234567,"version":"1.2.3","state_dir":"/state","receiver":"stopped","#
                + #""uptime_ms":null,"radios":[],"collars":[],"readers":[],"problems":[]}"# + "\n")
    }

    @Test("a running receiver has an uptime; one that does not report its figures has none", arguments: [
        (.running, #""receiver":"running","uptime_ms":7200000,"#), (.unknown, #""receiver":"unknown","uptime_ms":null,"#),
    ] as [(Overview.Activity, String)])
    func activity(activity: Overview.Activity, members: String) {
        #expect(text(overview(activity)).contains(members))
    }

    @Test("a radio has the state that the receiver reports; where none runs, it is null")
    func radios() {
        var overview = overview()
        overview.radios = [radio("/dev/ttyUSB0", .open, dialect: "kiss"), Overview.Radio(port: "/dev/ttyUSB1")]
        #expect(
            text(overview).contains(
                #""radios":[{"port":"/dev/ttyUSB0","state":"open","dialect":"kiss"},{"port":"/dev/ttyUSB1","state":null,"dialect":null}]"#))
    }

    @Test("the ports that are found are shown where no receiver tells its radios", arguments: [
        (.running, []), (.stopped, ["/dev/ttyUSB0", "/dev/ttyACM1"]), (.unknown, ["/dev/ttyUSB0", "/dev/ttyACM1"]),
    ] as [(Overview.Activity, [String])])
    func portsThatAreFound(activity: Overview.Activity, shown: [String]) {
        var overview = overview(activity)
        overview.add(Diagnosis(findings: [], ports: ["/dev/ttyUSB0", "/dev/ttyACM1"], unexamined: [], version: "1.2.3", kernel: nil))
        #expect(overview.radios.map(\.port) == shown)
        #expect(overview.radios.allSatisfy { $0.figures == nil })
    }

    @Test("a collar without a receiver and without a fix")
    func unknownCollar() {
        var overview = overview(.stopped)
        overview.collars = [collar(newest: nil, figures: [:])]
        #expect(
            text(overview).contains(
                #""collars":[{"collar":"0123456789abcdef","reachable":null,"connection":null,"silent_ms":null,"missing":0,"lost":0,"stored":0,"#
                    + #""battery_drain_pct_per_h":null,"accuracy":null,"stale":null,"fix":null,"status":null,"#
                    + #""fix_interval_ms":null,"heartbeat_s":null,"power":null}]"#))
    }

    @Test("a collar with everything: fix and status are whole lines of other commands")
    func knownCollar() throws {
        var overview = overview()
        var one = collar(
            name: "Athena",
            figures: [.reachable: 0, .silence: 5000, .missing: 3, .fixInterval: 180_000, .heartbeat: 300], lost: 2,
            status: try statusLine(), power: try powerLine())
        one.drainMilliPercentPerHour = 1250
        one.fixLine = Array((#"{"type":"fix","seq":42}"# + "\n").utf8)
        overview.collars = [one]
        let status = String(decoding: try statusLine().bytes, as: UTF8.self)
        let power = String(decoding: try powerLine().bytes, as: UTF8.self)
        #expect(
            text(overview).contains(
                #""collars":[{"collar":"0123456789abcdef","name":"Athena","reachable":false,"connection":"not_reachable","silent_ms":5000,"missing":3,"lost":2,"#
                    + #""stored":40,"battery_drain_pct_per_h":1.250,"accuracy":"good","stale":null,"fix":{"type":"fix","seq":42},"status":\#(status),"#
                    + #""fix_interval_ms":180000,"heartbeat_s":300,"power":\#(power)}]"#))
    }

    @Test("readers and findings are whole lines, with commas between them")
    func embeddedLines() throws {
        let full = try fullOverview()
        func list(_ lines: [[UInt8]]) -> String { lines.map { String(decoding: $0.dropLast(), as: UTF8.self) }.joined(separator: ",") }
        let readers = list(full.readers.map { $0.line(unixMilliseconds: overviewTime) })
        #expect(text(full).hasSuffix(#","readers":[\#(readers)],"problems":[\#(list(full.problems.map(\.line)))]}"# + "\n"))
        #expect(full.problems.count == 2, "findings that need no action are in the line")
    }

    @Test("the overview is one line")
    func oneLine() throws {
        #expect(try fullOverview().line.count { $0 == UInt8(ascii: "\n") } == 1)
    }

    @Test("the line is JSON")
    func json() throws {
        let value = try JSONScanner.value(of: try fullOverview().line)
        #expect(value["type"]?.text == "overview")
    }

    @Test("the radios that a stopped receiver would open come from the diagnosis; a running one reports its own")
    func diagnosis() {
        let diagnosis = Diagnosis(findings: [], ports: ["/dev/ttyUSB7"], unexamined: [], version: "1.2.3", kernel: nil)
        var stopped = overview(.stopped)
        stopped.add(diagnosis)
        #expect(stopped.radios.map(\.port) == ["/dev/ttyUSB7"])
        var running = overview()
        running.radios = [radio("/dev/ttyUSB0", .open)]
        running.add(diagnosis)
        #expect(running.radios.map(\.port) == ["/dev/ttyUSB0"])
    }
}

@Suite("What a collar said about itself last")
struct StatusLineTests {
    @Test("a line of status is read, and kept as it is")
    func values() throws {
        let status = try statusLine {
            $0.isStationary = true
            $0.trackingSinceUnixSeconds = 1000
            $0.throttleState = .dutyCycle
            $0.gnssState = .searching
        }
        #expect(status.deviceID == 0x0123_4567_89AB_CDEF)
        #expect(status.unixMilliseconds == overviewTime)
        #expect(status.isTracking == true)
        #expect(status.trackingSinceUnixMilliseconds == 1_000_000)
        #expect(status.isStationary == true)
        #expect(status.throttle == "duty_cycle")
        #expect(status.gnss == "searching")
        #expect(StatusLine(status.bytes)?.bytes == status.bytes)
    }

    @Test("any other line is refused", arguments: [
        "", "{", "[]", "{}", #"{"type":"fix","collar":"0123456789abcdef"}"#, #"{"type":"status"}"#, #"{"type":"status","collar":"12"}"#,
    ])
    func otherLines(line: String) { #expect(StatusLine(line.utf8) == nil) }
}
