import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire
import Testing

@testable import CollarDoctor

/// The lines of the overview: where they break, how they are coloured, and what a single line of a collar has.
@Suite struct OverviewLayoutTests {
    private func shown(_ overview: Overview, width: Int = 200, rows: Int = 100) -> [Overview.TextLine] {
        overview.text(width: width, rows: rows, zone: nil)
    }

    @Test(arguments: [(34, 1), (33, 2)]) func theStateOfTheReceiverIsBesideTheNameIfThereIsRoom(width: Int, count: Int) {
        let lines = shown(overview(), width: width).prefix { $0.text != "radios" }
        #expect(lines.count == count)
        #expect(lines.first?.text == (count == 1 ? "collar-link 1.2.3  running for 2 h" : "collar-link 1.2.3"))
        #expect(lines.allSatisfy { $0.tone == .heading })
    }

    @Test func problemsHaveTheColourOfTheirSeverity() {
        var overview = overview()
        overview.problems = [.autosuspend, .clockWrong, .storageFailing, .usb3Noise].map {
            Finding($0, "It is so.", evidence: [], remedy: "Do it.")
        }
        let lines = shown(overview).drop { $0.text != "problems" }
        #expect(lines.map(\.tone) == [.heading, .warning, nil, .error, nil, .error, nil])
    }

    @Test func readersHaveTheirLagAndItsAge() {
        var overview = overview()
        var unknownAge = ReaderLag()
        unknownAge.entryCount = 2
        overview.readers = [
            reader("map", behind: 1), reader("archive", behind: 0),
            ReaderLine(name: "old", collars: nil, seenUnixMilliseconds: overviewTime - 7_200_000, lag: unknownAge),
        ]
        #expect(shown(overview).suffix(4).map(\.text) == [
            "readers", "  map  1 behind, the oldest 5 min  seen 10 s ago", "  archive  has everything  seen 10 s ago",
            "  old  2 behind  seen 2 h ago",
        ])
        #expect(shown(overview).suffix(3).allSatisfy { $0.tone == nil })
    }

    @Test func aFixWithoutItsAccuracyIsShown() {
        var overview = overview()
        let fix = Fix(sequence: 1, unixMilliseconds: overviewTime - 60_000, latitudeSteps: -1, longitudeSteps: 2, batteryPercent: 0)
        overview.collars = [collar(newest: JournaledFix(logID: 7, receivedUnixMilliseconds: overviewTime - 5_000, signal: nil, fix: fix))]
        #expect(shown(overview)[5].text == "    last fix 60 s ago  at 23:52:54  -0.00001, 0.00002  accuracy unknown")
        #expect(shown(overview)[6].text == "    battery 0 %")
    }

    /// In one line a collar has its name, link, fix and battery, and what is missing; its colour is that of its link.
    @Test func aCollarInOneLineHasTheColourOfItsLink() throws {
        var overview = overview()
        var drained = collar(0x1, name: "Athena", figures: [.reachable: 0, .silence: 7_200_000, .missing: 2], status: try statusLine())
        drained.drainMilliPercentPerHour = 1_249
        overview.collars = [drained, collar(0xAB00_0000_0000_0000, newest: nil, figures: [.heard: 1], missing: 3, lost: 9)]
        let lines = shown(overview, rows: 6).suffix(2)
        #expect(lines.map(\.text) == [
            "  Athena  not reachable, silent for 2 h  last fix 90 s ago  battery 85 %, 1.2 % an hour  2 missing",
            "  ab000000  its radio is not open  no fix yet  battery unknown  3 missing",
        ])
        #expect(lines.map(\.tone) == [.error, .warning])
    }

    /// Without a running receiver, the state of a collar's link is unknown.
    @Test(arguments: [Overview.Activity.stopped, .unknown]) func withoutFiguresALinkHasNoWordsAndNoColour(activity: Overview.Activity) {
        var overview = overview(activity)
        overview.collars = [collar(name: "Athena")]
        #expect(shown(overview)[4] == Overview.TextLine(text: "  Athena  (0123456789abcdef)", tone: nil))
    }

    /// What a collar says of its schedule, in words. The report came a minute ago.
    @Test func aPowerReportInWords() throws {
        func schedule(_ figures: [CollarFigure: Int64] = [:], _ change: (inout PowerReport) -> Void = { _ in }) throws -> String {
            var overview = overview()
            overview.collars = [collar(figures: figures, power: try powerLine(change))]
            return shown(overview)[7].text
        }
        let shares = "GNSS on 1.2 % of the time  radio listens 0.1 % of the time"
        let next = "  next search in 2 min  \(shares)"
        #expect(try schedule([.fixInterval: 180_000]) == "    makes a fix every 3 min\(next)")
        #expect(try schedule() == "    makes fixes by a schedule\(next)")
        #expect(try schedule([.fixInterval: 3_600_000]) { $0.mode = .resting } == "    makes a fix every 60 min\(next)")
        #expect(
            try schedule { ($0.mode, $0.failuresInRow) = (.noSky, 3) } == "    hears no satellites\(next)  3 searches failed in a row")
        #expect(try schedule { $0.failuresInRow = 1 } == "    makes fixes by a schedule\(next)  the last search failed")
        #expect(try schedule { ($0.mode, $0.secondsToSearch) = (.continuous, 0) } == "    GNSS always on  \(shares)")
        #expect(try schedule { ($0.mode, $0.secondsToSearch) = (.find, 0) } == "    find is in force: GNSS always on  \(shares)")
        // What is over, and what is not known, is left out.
        #expect(try schedule { $0.secondsToSearch = 60 } == "    makes fixes by a schedule  \(shares)")
        #expect(try schedule { ($0.mode, $0.secondsToSearch, $0.uptimeSeconds) = (.stopped, nil, 59) } == "    makes no fixes")
    }

    /// A collar whose status lacks a member says nothing about it.
    @Test func aStatusOfAnotherVersionIsShownAsFarAsItIsKnown() throws {
        func condition(_ members: String) throws -> String {
            let status = try #require(StatusLine(#"{"type":"status","collar":"0123456789abcdef"\#(members)}"#.utf8))
            var overview = overview()
            overview.collars = [collar(status: status)]
            return shown(overview)[6].text
        }
        #expect(try condition("") == "    battery 85 %")
        #expect(try condition(#","stationary":true,"throttle":"other","gnss":"other""#) == "    battery 85 %  stationary")
        let since = #","tracking_since_unix_ms":1699401174567"#
        #expect(try condition(#","tracking":false"# + since) == "    battery 85 %  not tracking since 23:52:54")
        #expect(try condition(since + #","gnss":"fault""#) == "    battery 85 %  GNSS fault")
    }
}
