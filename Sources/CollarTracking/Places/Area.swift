import Glibc

/// Polygons on the Earth, each with holes, as GeoJSON (RFC 7946) describes them. What is in any of them is inside. An area may lie over the
/// antimeridian, and spans less than half of the Earth.
///
/// Polygons that lie side by side along an edge with the same two corners are one part: that edge is no border.
package struct Area: Equatable, Sendable {
    /// An edge of a polygon or of a hole. The longitudes of a polygon go on beyond 180°, so that no edge is longer than half a turn.
    struct Edge: Equatable, Sendable {
        let start: Position
        let end: Position
        /// Whether another polygon of the part is on its other side.
        fileprivate(set) var isInner = false
    }

    struct Polygon: Equatable, Sendable {
        fileprivate(set) var edges: [Edge] = []
    }

    /// The parts, each with its polygons.
    let parts: [[Polygon]]

    /// An area of one polygon, see ``init(polygons:)``.
    package init?(rings: [[Position]]) { self.init(polygons: [rings]) }

    /// - Parameter polygons: the corners of the border of each polygon, then those of its holes, without the repeated first one.
    /// - Returns: nil without a polygon, and for a border of fewer than three corners.
    package init?(polygons: [[[Position]]]) {
        guard !polygons.isEmpty, polygons.allSatisfy({ rings in !rings.isEmpty && rings.allSatisfy { $0.count >= 3 } }) else { return nil }
        parts = Area.parts(
            polygons.map { rings in
                Polygon(edges: rings.enumerated().flatMap { Area.edges(of: $1, near: rings[0][0], isHole: $0 > 0) })
            })
    }

    /// Whether a closed line of corners spans less than half of the Earth from west to east, and does not surround a pole.
    package static func isNarrow(_ corners: [Position]) -> Bool {
        var (west, east, longitude) = (0.0, 0.0, 0.0)
        for (corner, next) in zip(corners, corners.dropFirst() + corners.prefix(1)) {
            let width = next.longitudeDegrees - corner.longitudeDegrees
            // A line from −180° to 180° goes around the Earth, or nowhere.
            if abs(width) == 360 { return false }
            longitude += width.remainder(dividingBy: 360)
            (west, east) = (min(west, longitude), max(east, longitude))
        }
        return east - west < 180 && abs(longitude) < 1
    }

    /// The edges of a border, counterclockwise, and of a hole clockwise: so neighbours have a common edge in opposite directions.
    /// - Parameter origin: the first corner of the polygon, near which the longitudes are.
    private static func edges(of corners: [Position], near origin: Position, isHole: Bool) -> [Edge] {
        var longitude = origin.longitudeDegrees
        var points = corners.map { point in
            longitude += (point.longitudeDegrees - longitude).remainder(dividingBy: 360)
            return Position(latitude: point.latitudeDegrees, longitude: longitude)
        }
        var twiceTheArea = 0.0
        var last = points[points.count - 1]
        for point in points {
            twiceTheArea += last.longitudeDegrees * point.latitudeDegrees - point.longitudeDegrees * last.latitudeDegrees
            last = point
        }
        if (twiceTheArea < 0) != isHole { points.reverse() }
        last = points[points.count - 1]
        return points.map { point in
            defer { last = point }
            return Edge(start: last, end: point)
        }
    }

    /// An edge in one direction, whichever way around the Earth its longitudes were written.
    private struct DirectedEdge: Hashable {
        private let numbers: [Int64]

        init(from start: Position, to end: Position) {
            // A billionth of a degree is a tenth of a millimetre.
            numbers = [start, end].flatMap { point in
                let turn = point.longitudeDegrees.remainder(dividingBy: 360)
                return [point.latitudeDegrees, turn == -180 ? 180 : turn].map { Int64(($0 * 1e9).rounded()) }
            }
        }
    }

    /// Joins polygons with common edges to parts.
    private static func parts(_ polygons: [Polygon]) -> [[Polygon]] {
        var polygons = polygons
        var owners: [DirectedEdge: Int] = [:]
        for (index, polygon) in polygons.enumerated() {
            for edge in polygon.edges { owners[DirectedEdge(from: edge.start, to: edge.end)] = index }
        }
        var leaders = Array(polygons.indices)
        func leader(of index: Int) -> Int {
            var index = index
            while leaders[index] != index { index = leaders[index] }
            return index
        }
        for index in polygons.indices {
            for place in polygons[index].edges.indices {
                let edge = polygons[index].edges[place]
                guard let other = owners[DirectedEdge(from: edge.end, to: edge.start)], other != index else { continue }
                polygons[index].edges[place].isInner = true
                leaders[leader(of: index)] = leader(of: other)
            }
        }
        let groups = Dictionary(grouping: polygons.indices, by: leader)
        return groups.sorted { $0.key < $1.key }.map { $0.value.map { polygons[$0] } }
    }

    /// The distance to the nearest border in metres: negative inside. It is computed in a plane that touches the Earth at the position:
    /// the error is less than 1 % within 100 km, and farther away the sign holds. Where parts overlap, the one counts whose border is
    /// farther.
    /// - Returns: the distance, and the part to which the border belongs.
    ///
    /// Complexity: linear in the corners.
    func border(from position: Position) -> (distanceMeters: Double, part: Int) {
        var best = (distanceMeters: Double.infinity, part: 0)
        for index in parts.indices {
            let distance = distanceMeters(toPart: index, from: position)
            if distance < best.distanceMeters { best = (distance, index) }
        }
        return best
    }

    private func distanceMeters(toPart part: Int, from position: Position) -> Double {
        let plane = TangentPlane(at: position)
        var isInside = false
        var squareOfNearest = Double.infinity
        for polygon in parts[part] {
            var isInPolygon = false
            // All corners of a polygon are on one side of the meridian opposite to the position, or it would be cut there.
            let turn = plane.turn(to: polygon.edges[0].start)
            for edge in polygon.edges {
                let (start, end) = (plane.point(edge.start, turn), plane.point(edge.end, turn))
                if (start.north > 0) != (end.north > 0) {
                    let east = start.east - start.north * (end.east - start.east) / (end.north - start.north)
                    if east > 0 { isInPolygon.toggle() }
                }
                if !edge.isInner { squareOfNearest = min(squareOfNearest, plane.squareOfDistance(from: start, to: end)) }
            }
            if isInPolygon { isInside = true }
        }
        return isInside ? -squareOfNearest.squareRoot() : squareOfNearest.squareRoot()
    }

    /// For each part, how far the innermost point is from the border, in metres: a lower bound, from a grid that becomes finer around the
    /// best point.
    ///
    /// Complexity: linear in the corners.
    var depthsMeters: [Double] {
        parts.indices.map { part in
            var bounds = Bounds(parts[part].lazy.flatMap(\.edges).map(\.start))
            var depth = 0.0
            for _ in 0..<4 {
                var best = bounds.center
                for row in -8...8 {
                    for column in -8...8 {
                        let point = bounds.point(north: Double(row) / 8, east: Double(column) / 8)
                        let distance = -distanceMeters(toPart: part, from: point)
                        if distance > depth { (depth, best) = (distance, point) }
                    }
                }
                bounds.shrink(to: best, by: 6)
            }
            return depth
        }
    }

    /// A circle around all corners: its centre is that of their bounds.
    var surroundingCircle: (center: Position, radiusMeters: Double) {
        let corners = parts.lazy.joined().flatMap(\.edges).map(\.start)
        let center = Bounds(corners).center
        return (center, corners.map { Geodesic(from: center, to: $0).lengthMeters }.max() ?? 0)
    }
}

/// A part of the Earth between two parallels and two meridians.
private struct Bounds {
    private(set) var center: Position
    private var halfHeightDegrees: Double
    private var halfWidthDegrees: Double

    init(_ points: some Sequence<Position>) {
        var (south, north, west, east) = (90.0, -90.0, 540.0, -540.0)
        var first: Double?
        for point in points {
            let origin = first ?? point.longitudeDegrees
            first = origin
            let longitude = origin + (point.longitudeDegrees - origin).remainder(dividingBy: 360)
            (south, north) = (min(south, point.latitudeDegrees), max(north, point.latitudeDegrees))
            (west, east) = (min(west, longitude), max(east, longitude))
        }
        center = Position(latitude: (south + north) / 2, longitude: ((west + east) / 2).remainder(dividingBy: 360))
        (halfHeightDegrees, halfWidthDegrees) = ((north - south) / 2, (east - west) / 2)
    }

    /// - Parameters: −1 … 1, from border to border.
    func point(north: Double, east: Double) -> Position {
        Position(
            latitude: min(max(center.latitudeDegrees + halfHeightDegrees * north, -90), 90),
            longitude: (center.longitudeDegrees + halfWidthDegrees * east).remainder(dividingBy: 360))
    }

    mutating func shrink(to newCenter: Position, by factor: Double) {
        (center, halfHeightDegrees, halfWidthDegrees) = (newCenter, halfHeightDegrees / factor, halfWidthDegrees / factor)
    }
}

/// A plane that touches the ellipsoid at a position, with metres as its units.
private struct TangentPlane {
    private let position: Position
    private let metersPerLatitudeDegree: Double
    private let metersPerLongitudeDegree: Double

    init(at position: Position) {
        self.position = position
        let (sine, cosine) = (sin(position.latitudeDegrees * .degree), cos(position.latitudeDegrees * .degree))
        let squaredEccentricity = Ellipsoid.flattening * (2 - Ellipsoid.flattening)
        let scale = 1 - squaredEccentricity * sine * sine
        // The radii of curvature of the meridian and of the prime vertical.
        let prime = Ellipsoid.equatorialRadius / scale.squareRoot()
        metersPerLatitudeDegree = prime * (1 - squaredEccentricity) / scale * .degree
        metersPerLongitudeDegree = prime * cosine * .degree
    }

    /// The whole turns around the Earth, in degrees, after which the longitude of a position is nearest to that of the plane.
    func turn(to other: Position) -> Double {
        let east = other.longitudeDegrees - position.longitudeDegrees
        return east.remainder(dividingBy: 360) - east
    }

    /// A position relative to that of the plane.
    func point(_ other: Position, _ turn: Double) -> (east: Double, north: Double) {
        (
            (other.longitudeDegrees + turn - position.longitudeDegrees) * metersPerLongitudeDegree,
            (other.latitudeDegrees - position.latitudeDegrees) * metersPerLatitudeDegree
        )
    }

    /// The square of the distance between the position of the plane and a straight edge.
    func squareOfDistance(from start: (east: Double, north: Double), to end: (east: Double, north: Double)) -> Double {
        let (east, north) = (end.east - start.east, end.north - start.north)
        let square = east * east + north * north
        let part = square == 0 ? 0 : min(1, max(0, -(start.east * east + start.north * north) / square))
        let nearest = (east: start.east + part * east, north: start.north + part * north)
        return nearest.east * nearest.east + nearest.north * nearest.north
    }
}
