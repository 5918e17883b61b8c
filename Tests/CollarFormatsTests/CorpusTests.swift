import CollarLink
import CollarWire
import FoundationEssentials
import Glibc
import Testing

/// The folder of real tracks, `shared/corpus` beside the repository; nil if it cannot be read. It is not part of the repository.
private let corpus: String? = {
    // The path of this file may contain symbolic links, but the corpus is beside the folder to which they lead.
    guard let resolved = unsafe realpath(#filePath, nil) else { return nil }
    defer { unsafe free(resolved) }
    let parts = unsafe String(cString: resolved).split(separator: "/")
    guard let tests = parts.lastIndex(of: "Tests"), tests >= 2 else { return nil }
    let path = "/" + parts[..<(tests - 1)].joined(separator: "/") + "/shared/corpus"
    return unsafe access(path, R_OK) == 0 ? path : nil
}()

@Suite("Real tracks")
struct CorpusTests {
    @Test(
        "Every field comes back within half a step and every time exactly",
        .enabled(if: corpus != nil, "the corpus is not beside the repository"))
    func everyFix() throws {
        let root = try #require(corpus)
        let reader = TrackLineReader()
        var count = 0
        let text = try #require(shellOutput("zcat '\(root)'/*/*.ndjson.gz"))
        for line in text.split(separator: UInt8(ascii: "\n")) {
            count += 1
            let original = try reader.fix(fromLine: line, lineNumber: count)
            let fix = try Fix(quantizing: original)
            let back = LocationFix(id: original.id, fix: fix)
            if let problem = difference(original, back, step: fix.positionStep) {
                Issue.record("fix \(count): \(problem): \(original) became \(back)")
                return
            }
        }
        #expect(count > 50_000)
    }

    /// The first field that differs by more than its tolerance; nil if there is none.
    private func difference(_ original: LocationFix, _ back: LocationFix, step: PositionStep) -> String? {
        // A little more than half a step, because the subtraction itself rounds.
        let half = 0.5000001
        let degree: Double = 90 / Double(step.stepsPerQuarterTurn)
        func differs(_ left: Double, _ right: Double, by tolerance: Double) -> Bool {
            (left < 0) != (right < 0) || (left - right).magnitude > tolerance
        }
        let coordinates = (original.coordinate, back.coordinate)
        if (coordinates.0.latitude - coordinates.1.latitude).magnitude > half * degree { return "latitude" }
        if (coordinates.0.longitude - coordinates.1.longitude).magnitude > half * degree { return "longitude" }
        if original.timestamp != back.timestamp { return "time" }
        if original.sequence != back.sequence || original.source != back.source { return "sequence or source" }
        switch (original.altitudeMeters, back.altitudeMeters) {
        case (nil, nil): break
        case (let left?, let right?): if (left - right).magnitude > half { return "altitude" }
        default: return "altitude"
        }
        let speeds = (original.speedMetersPerSecond, back.speedMetersPerSecond)
        if differs(speeds.0, speeds.1, by: half * 0.1) { return "speed" }
        if differs(original.batteryFraction, back.batteryFraction, by: half * 0.01) { return "battery" }
        let turn = (original.courseDegrees - back.courseDegrees).magnitude
        if original.hasValidCourse != back.hasValidCourse || min(turn, 360 - turn) > 1.0000001 { return "course" }
        let radii = (original.horizontalAccuracyMeters, back.horizontalAccuracyMeters)
        if differs(radii.0, radii.1, by: max(0.05 * radii.0, 0.006)), radii.0 < 2195 { return "horizontal accuracy" }
        let heights = (original.verticalAccuracyMeters, back.verticalAccuracyMeters)
        if differs(heights.0, heights.1, by: max(0.05 * heights.0, 0.006)), heights.0 < 2195 { return "vertical accuracy" }
        return nil
    }
}
