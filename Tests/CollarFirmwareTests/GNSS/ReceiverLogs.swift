import Foundation

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
