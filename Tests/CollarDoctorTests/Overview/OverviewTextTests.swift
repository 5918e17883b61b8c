import CollarControl
import CollarErrors
import CollarFormats
import CollarWire
import Testing

@testable import CollarDoctor

@Suite("The overview for a person")
struct OverviewTextTests {
    private func lines(_ overview: Overview, width: Int = 80, rows: Int = 100, zone: TimeZoneOffset? = nil) -> [String] {
        overview.text(width: width, rows: rows, zone: zone).map(\.text)
    }

    /// The lines of one collar at a wide terminal, and the tone of the first.
    private func shown(_ collar: Overview.Collar, _ activity: Overview.Activity = .running) -> (lines: [String], tone: Overview.TextLine.Tone?) {
        var overview = overview(activity)
        overview.collars = [collar]
        let lines = overview.text(width: 200, rows: 100, zone: nil).drop { $0.text != "collars" }.dropFirst()
        return (lines.map(\.text), lines.first?.tone)
    }

    @Test("at 80 columns, each collar has a line each for its link, its fix, its state and its delivery")
    func wholeAt80Columns() throws {
        #expect(
            lines(try fullOverview()) == [
                "collar-link 1.2.3  running for 2 h",
                "radios",
                "  /dev/ttyUSB0  kiss  open",
                "  tcp://barn.example:4001  connecting",
                "collars",
                "  Athena  (0123456789abcdef)  connected, heard 5 s ago",
                "    last fix 90 s ago  at 23:52:24  37.77490, -122.41940  ±5.3 m, good",
                "    battery 85 %  tracking  moving",
                "    nothing missing  40 stored",
                "  00000000000000ab  not heard since the start",
                "    no fix yet",
                "    battery unknown",
                "    nothing missing  0 stored",
                "readers",
                "  map  3 behind, the oldest 5 min  seen 10 s ago",
                "  archive  has everything  seen 10 s ago",
                "problems",
                "  \(FindingCode.regionMissing.severity.rawValue): no region is set",
                "    collar-link --region EU868",
            ])
    }

    @Test("at 40 columns, lines are broken between items, and further lines are indented")
    func wholeAt40Columns() throws {
        #expect(
            Array(lines(try fullOverview(), width: 40).prefix(13)) == [
                "collar-link 1.2.3  running for 2 h",
                "radios",
                "  /dev/ttyUSB0  kiss  open",
                "  tcp://barn.example:4001  connecting",
                "collars",
                "  Athena  (0123456789abcdef)",
                "    connected, heard 5 s ago",
                "    last fix 90 s ago  at 23:52:24",
                "      37.77490, -122.41940  ±5.3 m, good",
                "    battery 85 %  tracking  moving",
                "    nothing missing  40 stored",
                "  00000000000000ab",
                "    not heard since the start",
            ])
    }

    @Test("no line is wider than the terminal, unless a single item is", arguments: [20, 30, 40, 60, 80, 120])
    func width(columns: Int) throws {
        var overview = try fullOverview()
        overview.collars.append(collar(name: "A cat with a long name, in fact a very long one, who lives here"))
        for rows in [10, 100] {
            for line in overview.text(width: columns, rows: rows, zone: nil) where line.text.count > columns {
                let isOneItem = !line.text.trimmingPrefix(while: { $0 == " " }).contains("  ")
                #expect(isOneItem, "\(line.text)")
            }
        }
    }

    @Test("a command stays on one line, so that it can be copied")
    func command() {
        let command = ShellCommand("sudo", "install", "-m", "644", "hardware/udev/70-collar-link.rules", "/etc/udev/rules.d/")
            .then(ShellCommand("sudo", "udevadm", "trigger"))
        var overview = overview()
        overview.problems = [Finding(.ruleMissing, "the udev rule is not installed on this machine", evidence: [], command: command)]
        #expect(lines(overview, width: 30).suffix(3) == ["  error: the udev rule is not", "    installed on this machine", "    \(command.text)"])
    }

    @Test("a remedy in words is shown where no command can help")
    func remedy() {
        var overview = overview()
        overview.problems = [Finding(.noDevice, "no radio is plugged in", evidence: [], remedy: "plug one in")]
        #expect(lines(overview).last == "    plug one in")
        overview.problems = [Finding(.noDevice, "no radio is plugged in", evidence: [], command: ShellCommand("lsusb"), remedy: "plug one in")]
        #expect(lines(overview).last == "    lsusb")
    }

    @Test("findings that need no action are not shown")
    func information() {
        var overview = overview()
        overview.problems = [Finding(.usb3Noise, "the radio is at a port of USB 3", evidence: [], remedy: "use another port")]
        #expect(!lines(overview).contains("problems"))
    }

    @Test("without radios, collars, readers and problems, only the first two have a section")
    func empty() {
        #expect(
            lines(overview()) == [
                "collar-link 1.2.3  running for 2 h", "radios", "  none", "collars", "  none was heard yet",
            ])
    }

    @Test("where no receiver runs, the overview says how to start it, and shows no state of radios and collars")
    func stopped() {
        var overview = overview(.stopped)
        overview.radios = [Overview.Radio(port: "/dev/ttyUSB0")]
        overview.collars = [collar(figures: [:])]
        #expect(
            Array(lines(overview).prefix(6)) == [
                "collar-link 1.2.3  not running: start it with `collar-link`", "radios", "  /dev/ttyUSB0  not open", "collars",
                "  0123456789abcdef", "    last fix 90 s ago  at 23:52:24  37.77490, -122.41940  ±5.3 m, good",
            ])
    }

    @Test("a receiver that does not report its figures runs, and nothing is said about its collars' links")
    func unknownActivity() {
        let lines = lines(overview(.unknown))
        #expect(lines.first == "collar-link 1.2.3  running, but it reports nothing to this user")
        #expect(shown(collar(figures: [:]), .unknown).lines.first == "  0123456789abcdef")
    }

    @Test("each state of a radio has its words", arguments: [
        (.open, "open", .good), (.detecting, "detecting its firmware", .warning), (.unset, "not used: no region is set", .warning),
        (.stranger, "no collar radio answers", .error), (.connecting, "connecting", .warning),
        (.waiting, "waiting for it to appear", .warning), (.retrying, "cannot be opened, retrying", .error),
        (.shared, "open by another path", nil), (.gone, "unplugged", .error),
    ] as [(RadioFigures.State, String, Overview.TextLine.Tone?)])
    func radios(state: RadioFigures.State, words: String, tone: Overview.TextLine.Tone?) {
        var overview = overview()
        overview.radios = [radio("/dev/ttyUSB0", state)]
        #expect(overview.text(width: 80, rows: 24, zone: nil)[2] == Overview.TextLine(text: "  /dev/ttyUSB0  \(words)", tone: tone))
    }

    @Test("a radio whose airtime runs short is marked in the text and in the line")
    func shortAirtime() {
        var overview = overview()
        overview.radios = [Overview.Radio(port: "a", figures: RadioFigures(port: "a", state: .open, dialect: "kiss", isAirtimeShort: true))]
        let line = Overview.TextLine(text: "  a  kiss  open, its airtime runs short", tone: .warning)
        #expect(overview.text(width: 80, rows: 24, zone: nil)[2] == line)
        #expect(String(decoding: overview.line, as: UTF8.self).contains(#"[{"port":"a","state":"open","dialect":"kiss","airtime_short":true}]"#))
    }

    @Test("the link of a collar follows from the figures of the receiver", arguments: [
        ([.reachable: 1, .silence: 119_999, .heard: 1], "connected, heard 119 s ago", .good),
        ([.reachable: 0, .silence: 7_200_000, .heard: 1], "not reachable, silent for 2 h", .error),
        ([.silence: 1000, .heard: 1], "connecting", .warning),
        ([.heard: 1], "its radio is not open", .warning),
        ([.heard: 0], "not heard since the start", .warning),
        ([:], "not heard since the start", .warning),
    ] as [([CollarFigure: Int64], String, Overview.TextLine.Tone)])
    func links(figures: [CollarFigure: Int64], words: String, tone: Overview.TextLine.Tone) {
        let shown = shown(collar(figures: figures))
        #expect(shown.lines.first == "  0123456789abcdef  \(words)")
        #expect(shown.tone == tone)
    }

    @Test("what slows a collar down is named", arguments: [
        (.none, ""), (.lowBattery, "  slow: battery low"), (.criticalBattery, "  slow: battery critical"),
        (.dutyCycle, "  slow: duty cycle"),
    ] as [(Status.ThrottleState, String)])
    func throttle(state: Status.ThrottleState, words: String) throws {
        let status = try statusLine { $0.throttleState = state }
        #expect(shown(collar(status: status)).lines[2] == "    battery 85 %  tracking  moving\(words)")
    }

    @Test("a GNSS receiver without a fix is named", arguments: [
        (.off, "  GNSS off"), (.searching, "  GNSS searching"), (.fix, ""), (.fault, "  GNSS fault"),
    ] as [(Status.GNSSState, String)])
    func gnss(state: Status.GNSSState, words: String) throws {
        let status = try statusLine { $0.gnssState = state }
        #expect(shown(collar(status: status)).lines[2] == "    battery 85 %  tracking  moving\(words)")
    }

    @Test("tracking has the time since which it is on or off, if that is known")
    func tracking() throws {
        let on = try statusLine { $0.trackingSinceUnixSeconds = UInt32(overviewTime / 1000) - 60 }
        #expect(shown(collar(status: on)).lines[2] == "    battery 85 %  tracking since 23:52:54  moving")
        let off = try statusLine {
            $0.isTracking = false
            $0.isStationary = true
            $0.trackingSinceUnixSeconds = 946_684_800
        }
        #expect(shown(collar(status: off)).lines[2] == "    battery 85 %  not tracking since 2000-01-01 00:00:00  stationary")
    }

    @Test("without a status, nothing is said about tracking")
    func noStatus() {
        #expect(shown(collar()).lines[2] == "    battery 85 %")
    }

    @Test("the battery has its discharge, if that is known")
    func battery() {
        var one = collar()
        one.drainMilliPercentPerHour = 1250
        #expect(shown(one).lines[2] == "    battery 85 %, 1.3 % an hour")
        #expect(shown(collar(newest: newestFix(battery: nil))).lines[2] == "    battery unknown")
    }

    @Test("a signal is shown if the radio reports it")
    func signal() {
        let both = RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: -35)
        #expect(
            shown(collar(newest: newestFix(signal: both))).lines[3] == "    signal -97 dBm, SNR -3.5 dB  nothing missing  40 stored")
        let strength = RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: nil)
        #expect(shown(collar(newest: newestFix(signal: strength))).lines[3] == "    signal -97 dBm  nothing missing  40 stored")
    }

    @Test("missing and lost fixes are counted; a running receiver knows of missing ones that the journal does not know")
    func missing() {
        #expect(shown(collar(figures: [:], missing: 3, lost: 2)).lines[3] == "    3 missing  2 lost  40 stored")
        #expect(shown(collar(figures: [.missing: 9], missing: 3)).lines[3] == "    9 missing  40 stored")
    }

    @Test("a fix of another day has its date, in the time zone of the machine")
    func time() {
        var overview = overview()
        overview.collars = [collar(newest: newestFix(secondsAgo: 86_400))]
        #expect(lines(overview)[5].hasPrefix("    last fix 24 h ago  at 2023-11-06 23:53:54  "))
        #expect(lines(overview, zone: TimeZoneOffset { _ in 3600 })[5].hasPrefix("    last fix 24 h ago  at 2023-11-07 00:53:54  "))
    }

    @Test("a reader whose lag is unknown is a warning")
    func readers() {
        var overview = overview()
        overview.readers = [reader("map", behind: nil)]
        #expect(
            overview.text(width: 80, rows: 24, zone: nil).last
                == Overview.TextLine(text: "  map  its lag is unknown  seen 10 s ago", tone: .warning))
    }

    @Test("where the whole text does not fit above the prompt, each collar has one line")
    func brief() {
        var overview = overview()
        overview.collars = (0..<20).map { collar(DeviceID(rawValue: 0x0123_4567_89AB_CD00 + UInt64($0)), name: $0 == 0 ? "Athena" : nil) }
        overview.collars[1].figures[.missing] = 7
        let shown = lines(overview, width: 120, rows: 84)
        #expect(shown.count == 24)
        #expect(shown[4] == "  Athena  connected, heard 5 s ago  last fix 90 s ago  battery 85 %")
        #expect(shown[5] == "  01234567  connected, heard 5 s ago  last fix 90 s ago  battery 85 %  7 missing")
        #expect(lines(overview, width: 120, rows: 85).count == 84)
    }

    @Test("control characters of names and ports are shown, not sent to the terminal")
    func controlCharacters() {
        var overview = overview()
        overview.radios = [radio("/dev/\u{1B}[2J\n", .open)]
        overview.collars = [collar(name: "Athena\u{1B}[2J\nZeus")]
        for line in lines(overview) { #expect(line.utf8.allSatisfy { $0 >= 0x20 }, "\(line)") }
    }
}
