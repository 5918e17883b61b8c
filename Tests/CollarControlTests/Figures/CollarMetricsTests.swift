import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarControl

/// The metrics of collars, from real journals.
@Suite final class CollarMetricsTests {
    private static let collar: DeviceID = 0xA
    private static let other: DeviceID = 0xB
    private static let hour: Int64 = 3_600_000
    /// The newest fix was made then, and received an hour and 1 ms later.
    private static let fixed: Int64 = 1_700_000_000_000

    private let stateDirectory = "/tmp/collar-link-metrics-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: stateDirectory, withIntermediateDirectories: true) }

    deinit {
        do { try FileManager.default.removeItem(atPath: stateDirectory) } catch {}
    }

    private func journal(_ deviceID: DeviceID) throws -> Journal {
        try Journal.open(stateDirectory: stateDirectory, deviceID: deviceID, receiverID: 9, nowUnixMilliseconds: CollarMetricsTests.fixed)
    }

    private func fix(_ sequence: UInt32, hours: Int64, percent: UInt8?, _ signal: RadioSignal?) -> JournaledFix {
        let time = CollarMetricsTests.fixed + hours * CollarMetricsTests.hour
        return JournaledFix(
            logID: 1, receivedUnixMilliseconds: time + CollarMetricsTests.hour + 1, signal: signal,
            fix: Fix(sequence: sequence, unixMilliseconds: time, latitudeSteps: 1, longitudeSteps: 2, batteryPercent: percent))
    }

    /// A journal with five fixes, of which the newest does not come last; 2 are missing and 1 is lost.
    private func fill() throws {
        let journal = try journal(CollarMetricsTests.collar)
        let newest = RadioSignal(strengthDBm: -101, signalToNoiseTenthsDB: -25)
        #expect(try journal.append(fix(0, hours: -4, percent: 90, RadioSignal(strengthDBm: -50, signalToNoiseTenthsDB: 10))))
        #expect(try journal.append(fix(2, hours: -2, percent: 80, nil)))
        #expect(try journal.append(fix(7, hours: 0, percent: 70, newest)))
        #expect(try journal.append(fix(3, hours: -1, percent: 75, nil)))
        #expect(try journal.append(fix(4, hours: -1, percent: nil, nil)))
        let range = try #require(SequenceRange(5, 5))
        let loss = JournaledLoss(logID: 1, range: range, reason: .overwritten, receivedUnixMilliseconds: CollarMetricsTests.fixed)
        #expect(try journal.append(loss))
        try journal.commit()
    }

    private func samples(
        at unixMilliseconds: Int64 = CollarMetricsTests.fixed, _ collars: [DeviceID], _ figures: ReceiverFigures? = nil,
        _ animals: [Deployment] = []
    ) throws -> [String] {
        var report = MetricsReport(unixMilliseconds: unixMilliseconds, animals: DeploymentTable(animals), figures: figures)
        for collar in collars { try report.add(try JournalReader(stateDirectory: stateDirectory, deviceID: collar)) }
        return String(decoding: report.bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.dropFirst(MetricsText.namePrefix.count)).replacing("collar=\"000000000000000", with: "collar=\"") }
    }

    @Test func everyValueOfAJournalIsInItsOwnMetric() throws {
        try fill()
        let bytes = try JournalReader(stateDirectory: stateDirectory, deviceID: CollarMetricsTests.collar).extent().byteCount
        #expect(
            try samples([CollarMetricsTests.collar]) == [
                "up 0",
                #"collar_last_fix_timestamp_seconds{collar="a"} 1700000000.000"#,
                #"collar_last_reception_timestamp_seconds{collar="a"} 1700003600.001"#,
                #"collar_battery_percent{collar="a"} 70"#,
                #"collar_battery_drain_percent_per_hour{collar="a"} 5.000"#,
                #"collar_rssi_dbm{collar="a"} -101"#,
                #"collar_snr_db{collar="a"} -2.5"#,
                #"collar_stored_total{collar="a"} 5"#,
                #"collar_lost_fixes{collar="a"} 1"#,
                #"collar_journal_bytes{collar="a"} \#(bytes)"#,
                #"collar_missing_fixes{collar="a"} 2"#,
            ])
    }

    @Test func everyFigureOfACollarIsInItsOwnMetric() throws {
        try fill()
        var figures = ReceiverFigures()
        for (index, figure) in CollarFigure.allCases.enumerated() {
            figures.collars[CollarMetricsTests.collar, default: [:]][figure] = Int64(5001 + index)
            figures.collars[CollarMetricsTests.other, default: [:]][figure] = 9
        }
        #expect(
            try samples([CollarMetricsTests.collar], figures).suffix(18) == [
                // The receiver knows of more missing fixes than the journal.
                #"collar_missing_fixes{collar="a"} 5001"#,
                #"collar_airtime_seconds_total{collar="a"} 5.002"#,
                #"collar_retransmissions_total{collar="a"} 5003"#,
                #"collar_queued_fixes{collar="a"} 5004"#,
                #"collar_reachable{collar="a"} 5005"#,
                #"collar_silence_seconds{collar="a"} 5.006"#,
                #"collar_heard{collar="a"} 5007"#,
                #"collar_boots_total{collar="a"} 5008"#,
                #"collar_gnss_seconds_total{collar="a"} 5009"#,
                #"collar_listening_seconds_total{collar="a"} 5.010"#,
                #"collar_awake_seconds_total{collar="a"} 5.011"#,
                #"collar_searches_total{collar="a"} 5012"#,
                #"collar_search_failures_total{collar="a"} 5013"#,
                #"collar_search_failures_in_row{collar="a"} 5014"#,
                #"collar_time_to_fix_seconds{collar="a"} 5.015"#,
                #"collar_fix_interval_seconds{collar="a"} 5.016"#,
                #"collar_heartbeat_seconds{collar="a"} 5017"#,
                #"collar_stale_after_seconds{collar="a"} 5.018"#,
            ])
    }

    @Test func whatTheNewestFixDoesNotHaveIsLeftOut() throws {
        let journal = try journal(CollarMetricsTests.collar)
        #expect(try journal.append(fix(0, hours: -1, percent: 50, RadioSignal(strengthDBm: -50, signalToNoiseTenthsDB: 10))))
        #expect(try journal.append(fix(1, hours: 0, percent: nil, RadioSignal(strengthDBm: -60))))
        try journal.commit()
        let names = try samples([CollarMetricsTests.collar]).map { $0.prefix { $0 != "{" } }
        #expect(names.contains("collar_rssi_dbm"))
        for name in ["collar_battery_percent", "collar_snr_db", "collar_battery_drain_percent_per_hour"] {
            #expect(!names.contains(name[...]))
        }
    }

    @Test func aJournalWithoutAFixHasItsCounts() throws {
        _ = try journal(CollarMetricsTests.collar)
        let names = try samples([CollarMetricsTests.collar]).map { String($0.prefix { $0 != "{" }) }
        #expect(names.dropFirst() == ["collar_stored_total", "collar_lost_fixes", "collar_journal_bytes", "collar_missing_fixes"])
    }

    @Test func twoCollarsShareFamiliesAndNothingElse() throws {
        try fill()
        let journal = try journal(CollarMetricsTests.other)
        #expect(try journal.append(fix(0, hours: 3, percent: 33, RadioSignal(strengthDBm: -77, signalToNoiseTenthsDB: 12))))
        try journal.commit()
        let lines = try samples([CollarMetricsTests.collar, CollarMetricsTests.other])
        for line in [
            #"collar_battery_percent{collar="a"} 70"#, #"collar_battery_percent{collar="b"} 33"#, #"collar_snr_db{collar="b"} 1.2"#,
            #"collar_stored_total{collar="b"} 1"#, #"collar_lost_fixes{collar="b"} 0"#, #"collar_missing_fixes{collar="b"} 0"#,
            #"collar_last_reception_timestamp_seconds{collar="b"} 1700014400.001"#,
        ] { #expect(lines.contains(line), "\(line)") }
        // The samples of a family stand together.
        #expect(lines[1].hasPrefix("collar_last_fix") && lines[2].hasPrefix("collar_last_fix"))
    }

    @Test func theNameIsThatOfThePresentWearer() throws {
        try fill()
        let time = CollarMetricsTests.fixed
        let animals = [
            Deployment(animal: Animal(name: "Athena"), deviceID: CollarMetricsTests.collar, endUnixMilliseconds: time),
            Deployment(
                animal: Animal(name: "Bella"), deviceID: CollarMetricsTests.collar, beginUnixMilliseconds: time,
                endUnixMilliseconds: time + 5),
            Deployment(animal: Animal(name: "Zeus"), deviceID: CollarMetricsTests.other),
        ]
        func label(_ unixMilliseconds: Int64) throws -> String {
            let line = try #require(try samples(at: unixMilliseconds, [CollarMetricsTests.collar], nil, animals).last)
            return String(line.dropFirst("collar_missing_fixes".count))
        }
        #expect(try label(time - 1) == #"{collar="a",name="Athena"} 2"#)
        #expect(try label(time) == #"{collar="a",name="Bella"} 2"#)
        #expect(try label(time + 5) == #"{collar="a"} 2"#)
    }
}
