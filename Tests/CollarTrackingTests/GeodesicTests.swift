import Glibc
import LinuxSystem
import Testing

@testable import CollarTracking

@Suite struct GeodesicTests {
    private let geodesicsPath = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Geodesics/geodesics.txt"

    /// Pairs of positions, with distance and direction by GeographicLib, of geodesics.py. COLLAR_LINK_GEODESICS names a larger file.
    @Test func distancesAndDirectionsAreThoseOfGeographicLib() throws {
        let path = unsafe getenv("COLLAR_LINK_GEODESICS").map { unsafe String(cString: $0) } ?? geodesicsPath
        let lines = String(decoding: try #require(SystemFiles.content(of: path)), as: UTF8.self).split(separator: "\n")
        #expect(lines.count >= 400)
        for line in lines {
            let numbers = line.split(separator: " ").compactMap { Double($0) }
            try #require(numbers.count == 6)
            let start = try #require(Position(latitudeDegrees: numbers[0], longitudeDegrees: numbers[1]))
            let end = try #require(Position(latitudeDegrees: numbers[2], longitudeDegrees: numbers[3]))
            let way = Geodesic(from: start, to: end)
            let tolerance = numbers[4] <= 10_000 ? 0.01 : 1e-4 * numbers[4]
            if abs(way.lengthMeters - numbers[4]) > tolerance { Issue.record("\(line): \(way.lengthMeters) m") }
            guard let bearing = way.bearingDegrees else {
                if numbers[4] > 0.001 { Issue.record("\(line): no direction") }
                continue
            }
            // Between positions that are nearly opposite, two directions may be as good as each other.
            if numbers[4] < 19_900_000, numbers[4] > 0.001 {
                let turn = (bearing - numbers[5]).remainder(dividingBy: 360) * .degree
                if abs(sin(turn)) * min(numbers[4], 6_000_000) > tolerance || cos(turn) < 0 { Issue.record("\(line): \(bearing)°") }
            }
            let reached = Geodesic(from: Ellipsoid.direct(start, bearing * .degree, way.lengthMeters), to: end).lengthMeters
            if reached > tolerance { Issue.record("\(line): \(reached) m beside the end") }
        }
    }

    /// Half a turn of longitude lies between the two, so the way goes over the pole. Lengths are those of GeographicLib.
    @Test(arguments: [
        (89.995, 10.0, 89.995, -170.0, 1116.94), (89.999, 0, 89.99, 180, 1228.634), (-89.9, -180, -89.9, 0, 22_338.796),
        (-89.9, -3, -80, 177, 1_127_995.255),
    ]) func theWayOverAPole(_ a: Double, _ b: Double, _ c: Double, _ d: Double, length: Double) throws {
        let start = try #require(Position(latitudeDegrees: a, longitudeDegrees: b))
        let end = try #require(Position(latitudeDegrees: c, longitudeDegrees: d))
        #expect(abs(Geodesic(from: start, to: end).lengthMeters - length) < 0.001)
    }

    @Test func equalPositionsHaveNoDirection() throws {
        let position = try #require(Position(latitudeDegrees: 51, longitudeDegrees: -180))
        let way = Geodesic(from: position, to: position)
        #expect(way.lengthMeters == 0 && way.bearingDegrees == nil)
        let same = try #require(Position(latitudeDegrees: 51, longitudeDegrees: 180))
        #expect(Geodesic(from: position, to: same).bearingDegrees == nil)
    }

    @Test func coordinatesOutOfRangeAreNoPosition() {
        #expect(Position(latitudeDegrees: 90.1, longitudeDegrees: 0) == nil)
        #expect(Position(latitudeDegrees: 0, longitudeDegrees: -180.1) == nil)
        #expect(Position(latitudeDegrees: .nan, longitudeDegrees: 0) == nil)
    }
}
