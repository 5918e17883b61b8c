import FoundationEssentials

/// A fix as a program would write it for Foundation's coders.
struct CodableFix: Codable {
    struct Coordinate: Codable {
        var latitude: Double
        var longitude: Double
    }

    var type = "fix"
    var id: String
    var seq: UInt32
    var ts_unix_ms: Int64
    var source: String
    var coordinate: Coordinate
    var alt_m: Double?
    var h_accuracy_m: Double
    var v_accuracy_m: Double
    var speed_mps: Double
    var course_deg: Double
    var heading_deg: Double?
    var battery_pct: Int
}

extension Samples {
    private var codable: [CodableFix] {
        fixes.prefix(256).map { fix in
            CodableFix(
                id: "01234567-89ab-8def-8abc-cdef00000000", seq: fix.sequence, ts_unix_ms: fix.unixMilliseconds,
                source: "collar",
                coordinate: .init(
                    latitude: Double(fix.latitudeSteps) / 1e5, longitude: Double(fix.longitudeSteps) / 1e5),
                alt_m: fix.altitudeSteps.map(Double.init), h_accuracy_m: 3.141, v_accuracy_m: 4.833,
                speed_mps: Double(fix.speedDecimetersPerSecond ?? 0) / 10, course_deg: 80, heading_deg: 120,
                battery_pct: 85)
        }
    }

    /// Encodes the same values with Foundation's JSONEncoder.
    var foundationEncode: Benchmark {
        let values = codable
        let encoder = JSONEncoder()
        let bytes = values.reduce(0) { $0 + ((try? encoder.encode($1).count) ?? 0) }
        return Benchmark(
            name: "JSONEncoder", bytesPerElement: Double(bytes) / Double(values.count), elementCount: values.count
        ) { values.reduce(0) { $0 + ((try? encoder.encode($1).count) ?? 0) } }
    }

    /// Decodes the same values with Foundation's JSONDecoder.
    var foundationDecode: Benchmark {
        let encoder = JSONEncoder()
        let texts = codable.compactMap { try? encoder.encode($0) }
        let decoder = JSONDecoder()
        let bytes = texts.reduce(0) { $0 + $1.count }
        return Benchmark(
            name: "JSONDecoder", bytesPerElement: Double(bytes) / Double(texts.count), elementCount: texts.count
        ) { texts.reduce(0) { $0 + Int((try? decoder.decode(CodableFix.self, from: $1).seq) ?? 0) } }
    }
}
