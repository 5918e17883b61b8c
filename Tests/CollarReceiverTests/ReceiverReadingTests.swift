import CollarARQ
import CollarFormats
import CollarTracking
import CollarWire
import LinuxSystem
import Testing

@testable import CollarControl
@testable import CollarHost
@testable import CollarJournal
@testable import CollarReceiver

/// The figures of a receiver: their line, the request for them, and their metrics.
@Suite struct ReceiverReadingTests {
    private var reading: ReceiverReading {
        var counts = HostStatistics()
        counts.fixes = 1
        counts.messages = 2
        counts.duplicates = 3
        counts.frames = 4
        counts.damagedFrames = 5
        counts.unknownFrames = 6
        counts.unsupportedFrames = 7
        counts.unopenedFrames = 8
        counts.malformedFrames = 9
        var status = Status()
        status.airtimeMilliseconds = 1250
        status.retransmissions = 21
        status.queueDepth = 22
        var power = PowerReport()
        (power.gnssSeconds, power.listeningMilliseconds, power.awakeMilliseconds) = (31, 32, 33)
        (power.searches, power.failures, power.failuresInRow, power.timeToFixTenths) = (34, 35, 36, 37)
        let told = CollarReading(
            deviceID: 0xAB, logID: 7, fixCount: 1, messageCount: 2, duplicateCount: 3, highestSequence: 9, missingCount: 4,
            journalByteCount: 100, lag: nil, status: status, powerReport: power, fixIntervalMilliseconds: 180_000,
            heartbeatSeconds: 300, staleAfterMilliseconds: 4_200_000, isReachable: true, silentMicroseconds: 7_999_999, isHeard: true,
            bootCount: 12)
        let silent = CollarReading(deviceID: 0xAC, fixCount: 0, messageCount: 0, duplicateCount: 0, missingCount: 0)
        var host = HostReading(
            statistics: counts, journalByteCount: 100, lag: EmissionLag(byteCount: 11, milliseconds: 12),
            isStorageFailing: true, collars: [told, silent])
        host.latencies.fix = LatencySummary(averageMicroseconds: 300_000, p95Microseconds: 499_999, sampleCount: 100)
        host.latencies.line = LatencySummary(averageMicroseconds: 20, p95Microseconds: 66, sampleCount: 100)
        host.latencies.message = LatencySummary(averageMicroseconds: 2_400, p95Microseconds: 100_000, sampleCount: 100)
        return ReceiverReading(
            host: host, lineCount: 10, uptimeMicroseconds: 60_999_999, outputBlockedMicroseconds: 13_000,
            airtimeMicroseconds: 1_500_000, errorCounts: [.noDevice: 2, .deviceInUse: 1],
            radios: [RadioFigures(port: "/dev/ttyUSB0", state: .open, dialect: "kiss"), RadioFigures(port: "tcp://a:1", state: .connecting)],
            usage: ProcessUsage(processorMicroseconds: 6_099_899, residentByteCount: 50_000_001))
    }

    private let line =
        #"{"type":"figures","unix_ms":-1,"uptime_ms":60999,"fixes_stored":1,"messages_stored":2,"duplicates":3,"lines":10,"#
        + #""frames":4,"frames_damaged":5,"frames_unknown":6,"frames_unsupported":7,"frames_unopened":8,"#
        + #""frames_malformed":9,"output_blocked_ms":13,"output_lag_bytes":11,"output_lag_ms":12,"storage_failing":1,"#
        + #""fix_latency_average_us":300000,"fix_latency_p95_us":499999,"line_latency_average_us":20,"#
        + #""line_latency_p95_us":66,"message_latency_average_us":2400,"message_latency_p95_us":100000,"#
        + #""airtime_us":1500000,"resident_bytes":50000001,"processor_us":6099899,"#
        + #""errors":{"device_in_use":1,"no_device":2},"collars":[{"collar":"00000000000000ab","missing":4,"#
        + #""airtime_ms":1250,"retransmissions":21,"queue_depth":22,"reachable":1,"silent_ms":7999,"heard":1,"boots":12,"#
        + #""gnss_s":31,"listening_ms":32,"awake_ms":33,"searches":34,"search_failures":35,"search_failures_in_row":36,"time_to_fix_ms":3700,"fix_interval_ms":180000,"#
        + #""heartbeat_s":300,"stale_after_ms":4200000},"#
        + #"{"collar":"00000000000000ac","heard":0}],"radios":[{"port":"/dev/ttyUSB0","state":"open","dialect":"kiss"},"#
        + #"{"port":"tcp://a:1","state":"connecting","dialect":null}]}"# + "\n"

    @Test func theLineOfTheFigures() throws {
        let figures = ReceiverFigures(reading)
        #expect(String(decoding: figures.line(unixMilliseconds: -1), as: UTF8.self) == line)
        #expect(ReceiverFigures(line: line.utf8) == figures)
    }

    @Test func whatIsUnknownIsLeftOut() {
        let host = HostReading(
            statistics: HostStatistics(), journalByteCount: nil, lag: nil, isStorageFailing: false, collars: [])
        let figures = ReceiverFigures(
            ReceiverReading(host: host, lineCount: 0, uptimeMicroseconds: 0, outputBlockedMicroseconds: nil))
        let expected =
            #"{"type":"figures","unix_ms":0,"uptime_ms":0,"fixes_stored":0,"messages_stored":0,"duplicates":0,"lines":0,"frames":0,"#
            + #""frames_damaged":0,"frames_unknown":0,"frames_unsupported":0,"frames_unopened":0,"frames_malformed":0,"#
            + #""output_blocked_ms":0,"storage_failing":0,"airtime_us":0,"errors":{},"collars":[],"radios":[]}"# + "\n"
        #expect(String(decoding: figures.line(unixMilliseconds: 0), as: UTF8.self) == expected)
        #expect(PerformanceTarget.allCases.map { $0.isMet(by: figures) } == [nil, nil, nil, nil])
    }

    @Test func otherLines() {
        #expect(ReceiverFigures(line: "".utf8) == nil)
        #expect(ReceiverFigures(line: #"{"type":"result","outcome":"ok"}"#.utf8) == nil)
        #expect(ReceiverFigures(line: #"{"type":"figures","collars":[{"collar":"12"}]}"#.utf8) == nil)
        var one = ReceiverFigures()
        one.values[.uptime] = 5
        #expect(ReceiverFigures(line: #"{"type":"figures","uptime_ms":5,"later":1,"lines":"x"}"#.utf8) == one)
    }

    @Test func theRequest() throws {
        #expect(String(decoding: FiguresRequest.line, as: UTF8.self) == #"{"type":"request","do":"figures"}"# + "\n")
        #expect(try FiguresRequest.isIn(Array(#"{"do":"figures"}"#.utf8)))
        #expect(try FiguresRequest.isIn(Array(#"{"type":"request","do":"figures"}"#.utf8)))
        for other in ["", "[]", #"{"do":"locate"}"#, #"{"do":"locate","do":"figures"}"#, #"{"to":"figures"}"#] {
            #expect(try !FiguresRequest.isIn(Array(other.utf8)))
        }
        #expect(throws: ControlRequest.Fault(reason: #""collar" is not expected here."#)) {
            try FiguresRequest.isIn(Array(#"{"do":"figures","collar":"00000000000000ab"}"#.utf8))
        }
        #expect(throws: ControlRequest.Fault(reason: #""type" is not expected here."#)) {
            try FiguresRequest.isIn(Array(#"{"do":"figures","type":"result"}"#.utf8))
        }
    }

    @Test func targets() {
        var figures = ReceiverFigures(reading)
        #expect(PerformanceTarget.allCases.map { $0.isMet(by: figures) } == [true, false, false, true])
        figures.values[.fixLatencyP95] = 500_000
        figures.values[.messageLatencyP95] = 99_999
        figures.values[.residentBytes] = 50_000_000
        figures.values[.processorTime] = 6_099_900
        #expect(PerformanceTarget.allCases.map { $0.isMet(by: figures) } == [false, true, true, false])
    }

    /// A target that is missed is told when that begins, and at most once an hour.
    @Test func missedTargets() {
        var monitor = TargetMonitor()
        var reading = reading
        reading.uptimeMicroseconds = 600_000_000
        func missed(_ seconds: Int64) -> [String] {
            monitor.newlyMissed(in: reading, at: Instant(microseconds: seconds * 1_000_000)).map { "\($0.target.rawValue) \($0.value)" }
        }
        #expect(missed(0) == ["message_latency 100000", "memory 50000001"])
        #expect(missed(7200) == [], "they were told")
        func setFix(_ microseconds: Int64, samples: Int = 100) {
            reading.host.latencies.fix = LatencySummary(averageMicroseconds: 0, p95Microseconds: microseconds, sampleCount: samples)
        }
        setFix(500_000, samples: 99)
        #expect(missed(7201) == [], "there are too few samples")
        setFix(60_000_001)
        #expect(missed(7202) == [], "the collar was out of reach")
        setFix(500_000)
        reading.usage?.processorMicroseconds = 90_000_000
        #expect(missed(7203) == ["fix_latency 500000", "processor 15"])
        setFix(499_999)
        #expect(missed(7204) == [])
        setFix(700_000)
        #expect(missed(10_802) == [], "at most once an hour")
        #expect(missed(10_803) == ["fix_latency 700000"])
    }

    @Test func theStartOfAProcessIsNoMeasure() {
        var monitor = TargetMonitor()
        var reading = reading
        reading.usage = ProcessUsage(processorMicroseconds: 599_000_000, residentByteCount: 1)
        reading.host.latencies = HostLatencies()
        reading.uptimeMicroseconds = 599_999_999
        #expect(monitor.newlyMissed(in: reading, at: Instant(microseconds: 0)).isEmpty)
        reading.uptimeMicroseconds = 600_000_000
        #expect(monitor.newlyMissed(in: reading, at: Instant(microseconds: 1)).map(\.value) == [99])
    }

    @Test func metricsWithoutAReceiver() throws {
        var report = MetricsReport(unixMilliseconds: 1_700_000_010_500, animals: DeploymentTable(), figures: nil)
        var lag = ReaderLag()
        lag.entryCount = 3
        lag.oldestUnixMilliseconds = 1_700_000_000_250
        let state = ReaderState(seenUnixMilliseconds: 1_700_000_009_000)
        report.add(try #require(ReaderName("behind")), state, lag: lag)
        report.add(try #require(ReaderName("up-to-date")), state, lag: ReaderLag())
        let expected = """
            # HELP collar_link_up Whether a running receiver has told its figures.
            # TYPE collar_link_up gauge
            collar_link_up 0
            # HELP collar_link_reader_lag_entries Fixes and messages that the reader has not taken.
            # TYPE collar_link_reader_lag_entries gauge
            collar_link_reader_lag_entries{reader="behind"} 3
            collar_link_reader_lag_entries{reader="up-to-date"} 0
            # HELP collar_link_reader_lag_seconds Time since the reception of the oldest fix or message that the reader has not taken.
            # TYPE collar_link_reader_lag_seconds gauge
            collar_link_reader_lag_seconds{reader="behind"} 10.250
            collar_link_reader_lag_seconds{reader="up-to-date"} 0.000
            # HELP collar_link_reader_last_seen_timestamp_seconds When the reader was active last.
            # TYPE collar_link_reader_last_seen_timestamp_seconds gauge
            collar_link_reader_last_seen_timestamp_seconds{reader="behind"} 1700000009.000
            collar_link_reader_last_seen_timestamp_seconds{reader="up-to-date"} 1700000009.000
            # HELP collar_link_reader_unreadable Whether the file of the reader cannot be read; then nothing else is known of the reader.
            # TYPE collar_link_reader_unreadable gauge
            collar_link_reader_unreadable{reader="behind"} 0
            collar_link_reader_unreadable{reader="up-to-date"} 0

            """
        #expect(String(decoding: report.bytes, as: UTF8.self) == expected)
    }

    @Test func metricsOfAReceiver() throws {
        let report = MetricsReport(unixMilliseconds: 0, animals: DeploymentTable(), figures: ReceiverFigures(reading))
        let samples = String(decoding: report.bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let expected = [
            "up 1", "uptime_seconds 60.999", "fixes_total 1", "messages_total 2", "duplicates_total 3", "lines_total 10",
            #"frames_total{kind="valid"} 4"#, #"frames_total{kind="damaged"} 5"#, #"frames_total{kind="unknown"} 6"#,
            #"frames_total{kind="unsupported"} 7"#, #"frames_total{kind="unopened"} 8"#, #"frames_total{kind="malformed"} 9"#,
            "output_blocked_seconds 0.013", "output_lag_bytes 11", "output_lag_seconds 0.012", "storage_failing 1",
            "fix_latency_average_seconds 0.300000", "fix_latency_p95_seconds 0.499999",
            "line_latency_average_seconds 0.000020", "line_latency_p95_seconds 0.000066",
            "message_latency_average_seconds 0.002400", "message_latency_p95_seconds 0.100000",
            "airtime_seconds_total 1.500000", "resident_memory_bytes 50000001", "cpu_seconds_total 6.099899",
            #"errors_total{code="device_in_use"} 1"#, #"errors_total{code="no_device"} 2"#,
            #"target_met{target="fix_latency"} 1"#, #"target_met{target="message_latency"} 0"#,
            #"target_met{target="memory"} 0"#, #"target_met{target="processor"} 1"#,
        ]
        #expect(samples.map(String.init) == expected.map { "collar_link_" + $0 })
    }

    @Test func theUsageOfThisProcess() throws {
        let usage = ProcessUsage.now
        #expect(usage.processorMicroseconds > 0)
        #expect(try #require(usage.residentByteCount) > 1_000_000)
    }
}
