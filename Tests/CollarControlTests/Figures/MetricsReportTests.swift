import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Glibc
import Testing

@testable import CollarControl

/// The metrics of a state directory. Every figure has a value of its own, so that none can stand in the place of another.
@Suite struct MetricsReportTests {
    private static let now: Int64 = 1_700_000_100_000

    /// The samples, without their help and types.
    private func samples(_ report: MetricsReport) -> [String] {
        String(decoding: report.bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.dropFirst(MetricsText.namePrefix.count)) }
    }

    private func report(_ figures: ReceiverFigures? = nil, _ animals: [Deployment] = []) -> MetricsReport {
        MetricsReport(unixMilliseconds: MetricsReportTests.now, animals: DeploymentTable(animals), figures: figures)
    }

    /// The figures of a receiver; each has its place in the list, from 1, at its end.
    private var figures: ReceiverFigures {
        var figures = ReceiverFigures()
        for (index, figure) in ReceiverFigure.allCases.enumerated() { figures.values[figure] = Int64(1_234_501 + index) }
        return figures
    }

    @Test func everyFigureOfTheReceiverIsInItsOwnMetric() {
        var figures = figures
        figures.errorCounts = ["radio_fault": 4, "journal_damaged": 3]
        #expect(
            samples(report(figures)) == [
                "up 1",
                "uptime_seconds 1234.501",
                "fixes_total 1234502",
                "messages_total 1234503",
                "duplicates_total 1234504",
                "lines_total 1234505",
                #"frames_total{kind="valid"} 1234506"#,
                #"frames_total{kind="damaged"} 1234507"#,
                #"frames_total{kind="unknown"} 1234508"#,
                #"frames_total{kind="unsupported"} 1234509"#,
                #"frames_total{kind="unopened"} 1234510"#,
                #"frames_total{kind="malformed"} 1234511"#,
                "output_blocked_seconds 1234.512",
                "output_lag_bytes 1234513",
                "output_lag_seconds 1234.514",
                "storage_failing 1234515",
                "fix_latency_average_seconds 1.234516",
                "fix_latency_p95_seconds 1.234517",
                "line_latency_average_seconds 1.234518",
                "line_latency_p95_seconds 1.234519",
                "message_latency_average_seconds 1.234520",
                "message_latency_p95_seconds 1.234521",
                "airtime_seconds_total 1.234522",
                "resident_memory_bytes 1234523",
                "cpu_seconds_total 1.234524",
                #"errors_total{code="journal_damaged"} 3"#,
                #"errors_total{code="radio_fault"} 4"#,
                #"target_met{target="fix_latency"} 0"#,
                #"target_met{target="message_latency"} 0"#,
                #"target_met{target="memory"} 1"#,
                #"target_met{target="processor"} 1"#,
            ])
    }

    @Test func aFigureThatIsUnknownIsLeftOut() {
        var figures = ReceiverFigures()
        figures.values[.lineLatencyP95] = 7
        #expect(samples(report(figures)) == ["up 1", "line_latency_p95_seconds 0.000007"])
        #expect(samples(report(ReceiverFigures())) == ["up 1"])
        #expect(samples(report()) == ["up 0"])
    }

    /// A counter never falls; the name of its family says so.
    @Test func kindsAndNamesOfFamiliesAgree() {
        let families = ReceiverFigure.allCases.map(\.metric.family) + CollarFigure.allCases.map(\.metric)
            + [.up, .errors, .targetMet, .lastFix, .lastReception, .battery, .batteryDrain, .strength, .signalToNoise, .lost, .stored]
            + [.journalBytes, .readerLagEntries, .readerLag, .readerSeen, .readerUnreadable]
        for family in families {
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
            #expect(!family.help.isEmpty && !family.help.contains("\n"))
        }
        // Families of one name are one family.
        let kinds = Set(families.map { "\($0.name) \($0.kind) \($0.fractionDigits) \($0.help)" })
        #expect(kinds.count == Set(families.map(\.name)).count)
    }

    // MARK: Targets

    @Test(arguments: [
        (.fixLatency, .fixLatencyP95, 499_999, 500_000), (.messageLatency, .messageLatencyP95, 99_999, 100_000),
        (.memory, .residentBytes, 50_000_000, 50_000_001),
    ] as [(PerformanceTarget, ReceiverFigure, Int64, Int64)])
    func aTargetHasItsBound(target: PerformanceTarget, figure: ReceiverFigure, met: Int64, missed: Int64) {
        var figures = ReceiverFigures()
        #expect(target.isMet(by: figures) == nil)
        figures.values[figure] = met
        #expect(target.isMet(by: figures) == true && target.value(in: figures) == met)
        figures.values[figure] = missed
        #expect(target.isMet(by: figures) == false)
    }

    @Test func theTargetOfTheProcessorIsAShareOfTheTime() {
        var figures = ReceiverFigures()
        figures.values[.processorTime] = 999_999
        #expect(PerformanceTarget.processor.isMet(by: figures) == nil)
        figures.values[.uptime] = 0
        #expect(PerformanceTarget.processor.value(in: figures) == nil)
        figures.values[.uptime] = 10_000
        #expect(PerformanceTarget.processor.value(in: figures) == 9 && PerformanceTarget.processor.isMet(by: figures) == true)
        figures.values[.processorTime] = 1_000_000
        #expect(PerformanceTarget.processor.value(in: figures) == 10 && PerformanceTarget.processor.isMet(by: figures) == false)
        figures.values[.processorTime] = nil
        #expect(PerformanceTarget.processor.value(in: figures) == nil)
    }

    // MARK: Readers

    @Test func everyReaderHasItsOwnValues() throws {
        var report = report()
        var lag = ReaderLag()
        lag.entryCount = 5
        lag.oldestUnixMilliseconds = MetricsReportTests.now - 90_500
        report.add(try #require(ReaderName("a")), ReaderState(seenUnixMilliseconds: 1_699_999_999_001), lag: lag)
        report.add(try #require(ReaderName("b")), ReaderState(seenUnixMilliseconds: 1_699_999_999_002), lag: ReaderLag())
        // The clock was set back.
        lag.oldestUnixMilliseconds = MetricsReportTests.now + 1
        report.add(try #require(ReaderName("c")), ReaderState(seenUnixMilliseconds: 1_699_999_999_003), lag: lag)
        report.add(unreadable: try #require(ReaderName("d")))
        #expect(
            samples(report) == [
                "up 0",
                #"reader_lag_entries{reader="a"} 5"#, #"reader_lag_entries{reader="b"} 0"#, #"reader_lag_entries{reader="c"} 5"#,
                #"reader_lag_seconds{reader="a"} 90.500"#, #"reader_lag_seconds{reader="b"} 0.000"#,
                #"reader_lag_seconds{reader="c"} 0.000"#,
                #"reader_last_seen_timestamp_seconds{reader="a"} 1699999999.001"#,
                #"reader_last_seen_timestamp_seconds{reader="b"} 1699999999.002"#,
                #"reader_last_seen_timestamp_seconds{reader="c"} 1699999999.003"#,
                #"reader_unreadable{reader="a"} 0"#, #"reader_unreadable{reader="b"} 0"#, #"reader_unreadable{reader="c"} 0"#,
                #"reader_unreadable{reader="d"} 1"#,
            ])
    }
}
