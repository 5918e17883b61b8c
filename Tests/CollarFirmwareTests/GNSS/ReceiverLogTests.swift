import CollarFirmware
import CollarWire
import Foundation
import Testing

/// The parsers find in the logs of receivers what gpsd, an independent program, finds in them.
@Suite(.enabled(if: ReceiverLogs() != nil, "needs the source of gpsd in .tools/gpsd-source; Tools/test swift gets it"))
struct ReceiverLogTests {
    /// In this log of a ship, the position of RMC and that of GGA differ within one second.
    private static let exceptions = ["bundg_zeus_9"]

    /// gpsd moves dates that it takes for wrong by this time.
    private static let rollover: Int64 = 1024 * 7 * 86_400_000

    private struct Reading {
        let reading: GNSSReading
        let isNMEA: Bool
    }

    private func readings(_ bytes: Data) -> [Reading] {
        var parser = UBXOrNMEAParser()
        var readings: [Reading] = []
        func note(_ event: GNSSEvent) {
            if case .reading(let reading) = event { readings.append(Reading(reading: reading, isNMEA: parser.isLastEventNMEA)) }
        }
        for byte in bytes {
            parser.append(byte)
            while let event = parser.next() { note(event) }
        }
        if let event = parser.endMoment() { note(event) }
        return readings
    }

    /// Whether a reading says what a report says. gpsd has accuracies of its own for NMEA.
    private func agree(_ reading: Reading, _ report: ReceiverLogs.Report) -> Bool {
        func isNear(_ mine: Double?, _ theirs: Double?, _ tolerance: Double) -> Bool {
            guard let mine, let theirs else { return true }
            return abs(mine - theirs) <= tolerance
        }
        let values = reading.reading
        return abs(report.latitude - Double(values.latitudeE7) / 1e7) < 1.1e-7
            && abs(report.longitude - Double(values.longitudeE7) / 1e7) < 1.1e-7
            && isNear(values.altitudeMillimeters.map { Double($0) / 1000 }, report.altitude, 0.0011)
            && isNear(values.speedMillimetersPerSecond.map { Double($0) / 1000 }, report.speed, 0.0011)
            && isNear(values.courseCentidegrees.map { Double($0) / 100 }, report.course, 0.0101)
            && (reading.isNMEA
                || isNear(values.horizontalAccuracyMillimeters.map { Double($0) / 1000 }, report.horizontalAccuracy, 0.0011)
                    && isNear(values.verticalAccuracyMillimeters.map { Double($0) / 1000 }, report.verticalAccuracy, 0.0011))
    }

    @Test func everyReadingIsWhatGPSDReads() throws {
        let logs = try #require(ReceiverLogs())
        var agreeing = (nmea: 0, ubx: 0)
        for name in try logs.names where !Self.exceptions.contains(name) {
            let reports = try logs.reports(of: name)
            var unknown = 0
            for reading in readings(try logs.bytes(of: name)) {
                let time = reading.reading.unixMilliseconds
                let candidates = [0, 1, 2].flatMap { reports[time + $0 * Self.rollover] ?? [] }
                if candidates.isEmpty { unknown += 1; continue }
                #expect(candidates.contains { agree(reading, $0) }, "\(name): \(reading) and \(candidates)")
                if reading.isNMEA { agreeing.nmea += 1 } else { agreeing.ubx += 1 }
            }
            // gpsd does not report the first moment of a log if it begins in the middle of one.
            #expect(unknown <= 2, "\(name): \(unknown) readings that gpsd does not report")
        }
        #expect(agreeing.nmea > 2200 && agreeing.ubx >= 72, "\(agreeing)")
    }

    /// Receivers that send NAV-PVT, or RMC and GGA: no position of theirs is missing.
    @Test(arguments: [
        "ublox-neo-m8n", "ublox-zed-f9p-hp", "ublox-zed-f9p-sfrbx", "ublox-zed-f9p_hpg1.11", "neo-m8n", "ublox-8",
        "ublox-neo-m9n-nmea", "ublox-zed-f9p-nmea", "telit-he910", "quectel", "quectelLC79D", "mt3339", "mtk-3329",
        "sirfstarv-nmea", "nmea-rtk", "nmea-fuzzy-cases", "skytraq-dgps", "haicom-305N",
    ])
    func noPositionIsMissing(_ name: String) throws {
        let logs = try #require(ReceiverLogs())
        let reports = try logs.reports(of: name)
        let found = Set(readings(try logs.bytes(of: name)).map(\.reading.unixMilliseconds))
        #expect(reports.count > 3)
        for time in reports.keys {
            let isFound = found.contains(time) || found.contains(time - Self.rollover) || found.contains(time - 2 * Self.rollover)
            #expect(isFound, "\(name): no reading at \(time)")
        }
    }
}

extension ReceiverLogTests {
    /// gpsd reports each NAV-SAT with the signals of all its satellites.
    @Test(arguments: ["ublox-neo-m8n", "ublox-neo-m8t", "ublox-zed-f9p-hp", "ublox-zed-f9p-sfrbx", "ublox-zed-f9t-rtcm3"])
    func theSatellitesAreThoseThatGPSDReads(_ name: String) throws {
        let logs = try #require(ReceiverLogs())
        var parser = UBXParser()
        let counts = parser.events(of: try logs.bytes(of: name)).compactMap { if case .satellites(let count) = $0 { count } else { nil } }
        let reported = try logs.signals(of: name).map { signals in UInt8(signals.count { $0 >= 10 }) }
        #expect(counts.count > 1 && reported == counts, "\(counts), but \(reported)")
    }
}

/// The logs of GNSS receivers that come with gpsd's source, and what gpsd reads in them. `Tools/test` unpacks them.
struct ReceiverLogs {
    /// What gpsd reports of one moment.
    struct Report {
        let latitude: Double
        let longitude: Double
        let altitude: Double?
        let speed: Double?
        let course: Double?
        let horizontalAccuracy: Double?
        let verticalAccuracy: Double?
    }

    let folder: URL

    /// nil if the logs are not there.
    init?() {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        folder = root.appendingPathComponent(".tools/gpsd-source/test/daemon")
        guard FileManager.default.fileExists(atPath: folder.path) else { return nil }
    }

    var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".log") }.map { String($0.dropLast(4)) }.sorted()
        }
    }

    func bytes(of name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent("\(name).log")) }

    /// The carrier-to-noise densities of the satellites in each report of the sky, in dBHz.
    func signals(of name: String) throws -> [[Double]] {
        try Data(contentsOf: folder.appendingPathComponent("\(name).log.chk")).split(separator: 0x0A).compactMap { line in
            guard line.starts(with: #"{"class":"SKY""#.utf8),
                let object = try JSONSerialization.jsonObject(with: line) as? [String: Any],
                let satellites = object["satellites"] as? [[String: Any]]
            else { return nil }
            return satellites.map { $0["ss"] as? Double ?? 0 }
        }
    }

    /// The reports with a position by their times in milliseconds since 1970. Of one moment there are several, each with more
    /// values than the one before.
    func reports(of name: String) throws -> [Int64: [Report]] {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var reports: [Int64: [Report]] = [:]
        for line in try Data(contentsOf: folder.appendingPathComponent("\(name).log.chk")).split(separator: 0x0A)
        where line.starts(with: #"{"class":"TPV""#.utf8) {
            guard let object = try JSONSerialization.jsonObject(with: line) as? [String: Any], let text = object["time"] as? String,
                let latitude = object["lat"] as? Double, let longitude = object["lon"] as? Double
            else { continue }
            let milliseconds = Int64((try style.parse(text).timeIntervalSince1970 * 1000).rounded())
            let report = Report(
                latitude: latitude, longitude: longitude, altitude: object["altMSL"] as? Double,
                speed: object["speed"] as? Double, course: object["track"] as? Double,
                horizontalAccuracy: object["eph"] as? Double, verticalAccuracy: object["epv"] as? Double)
            reports[milliseconds, default: []].append(report)
        }
        return reports
    }
}
