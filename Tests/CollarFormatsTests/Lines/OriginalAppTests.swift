import CollarFormats
import CollarLink
import FoundationEssentials
import Testing

/// The struct of the phone-and-watch tracker for which these lines are written. It knows two sources, and requires an id and a
/// nested coordinate. Only altitude and heading are optional.
private struct OriginalFix: Codable, Equatable {
    enum Source: String, Codable { case watchOS, iOS }
    struct Coordinate: Codable, Equatable {
        let latitude: Double
        let longitude: Double
    }

    let id: UUID
    let milliseconds: Double
    let source: Source
    let coordinate: Coordinate
    let altitude: Double?
    let horizontalAccuracy: Double
    let verticalAccuracy: Double
    let speed: Double
    let course: Double
    let heading: Double?
    let battery: Double
    let sequence: Int

    enum CodingKeys: String, CodingKey {
        case id, source, coordinate
        case milliseconds = "ts_unix_ms"
        case altitude = "alt_m"
        case horizontalAccuracy = "h_accuracy_m"
        case verticalAccuracy = "v_accuracy_m"
        case speed = "speed_mps"
        case course = "course_deg"
        case heading = "heading_deg"
        case battery = "battery_pct"
        case sequence = "seq"
    }
}

@Suite("The original app")
struct OriginalAppTests {
    @Test("A line with its source written as watchOS decodes there")
    func decodes() throws {
        let text = line(received(), sourceAs: .watchOS)
        let fix = try JSONDecoder().decode(OriginalFix.self, from: Data(text.utf8))
        let id = try #require(UUID(uuidString: "01234567-89AB-8CDE-BCBC-614E0000002A"))
        #expect(
            fix
                == OriginalFix(
                    id: id, milliseconds: 1_699_401_234_567, source: .watchOS,
                    coordinate: .init(latitude: 37.7749, longitude: -122.4194), altitude: 10,
                    horizontalAccuracy: 5.268, verticalAccuracy: -1, speed: 0.5, course: 180, heading: nil, battery: 85,
                    sequence: 42))
    }

    @Test("Without that it does not: its source is unknown there")
    func needsTheSource() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(OriginalFix.self, from: Data(line(received()).utf8))
        }
    }

    @Test("What it writes, we read, and what we encode, it reads")
    func bothWays() throws {
        let theirs = OriginalFix(
            id: UUID(), milliseconds: 1_699_401_234_567.25, source: .iOS,
            coordinate: .init(latitude: 0.1, longitude: 0.2), altitude: nil, horizontalAccuracy: 3,
            verticalAccuracy: 0, speed: -1, course: -1, heading: 12, battery: 85.5, sequence: 3)
        let ours = try JSONDecoder().decode(LocationFix.self, from: try JSONEncoder().encode(theirs))
        #expect(ours.id == theirs.id && ours.sequence == 3 && ours.batteryFraction == 0.855)
        #expect(try JSONDecoder().decode(OriginalFix.self, from: try JSONEncoder().encode(ours)) == theirs)
    }
}
