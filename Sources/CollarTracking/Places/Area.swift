import Glibc

/// Polygons on the Earth, each with holes, as GeoJSON (RFC 7946) describes them. An area may lie over the antimeridian, and spans less than
/// half of the Earth.
package struct Area: Equatable, Sendable {
    /// Closed lines: the borders of all polygons and of their holes.
    let rings: [Ring]

    /// Points of a closed line, the last of which is followed by the first. Longitudes go on beyond 180°, so that no edge is longer than
    /// half a turn.
    struct Ring: Equatable, Sendable {
        let points: [Position]
    }

    /// - Parameter rings: the corners of each border, without the repeated first one.
    /// - Returns: nil without a ring, and for a ring of fewer than three corners.
    package init?(rings: [[Position]]) {
        guard !rings.isEmpty, rings.allSatisfy({ $0.count >= 3 }) else { return nil }
        self.rings = rings.map { Ring(points: Area.unwrapped($0)) }
    }

    private static func unwrapped(_ points: [Position]) -> [Position] {
        var longitude = points[0].longitudeDegrees
        return points.map { point in
            longitude += (point.longitudeDegrees - longitude).remainder(dividingBy: 360)
            return Position(latitude: point.latitudeDegrees, longitude: longitude)
        }
    }

    /// The distance to the nearest border in metres: negative inside. It is computed in a plane that touches the Earth at the position:
    /// the error is less than 1 % within 100 km, and farther away the sign holds.
    ///
    /// Complexity: linear in the corners.
    func distanceMeters(from position: Position) -> Double {
        var isInside = false
        var squareOfNearest = Double.infinity
        for ring in rings {
            // Longitudes near that of the ring, whichever way around the Earth it was written.
            let offset = (position.longitudeDegrees - ring.points[0].longitudeDegrees).remainder(dividingBy: 360)
            let plane = TangentPlane(
                at: Position(latitude: position.latitudeDegrees, longitude: ring.points[0].longitudeDegrees + offset))
            var previous = plane.point(ring.points[ring.points.count - 1])
            for corner in ring.points {
                let next = plane.point(corner)
                if (previous.north > 0) != (next.north > 0) {
                    let east = previous.east - previous.north * (next.east - previous.east) / (next.north - previous.north)
                    if east > 0 { isInside.toggle() }
                }
                squareOfNearest = min(squareOfNearest, plane.squareOfDistance(from: previous, to: next))
                previous = next
            }
        }
        return isInside ? -squareOfNearest.squareRoot() : squareOfNearest.squareRoot()
    }

    /// A circle around all corners: its centre is that of their bounds.
    var surroundingCircle: (center: Position, radiusMeters: Double) {
        let first = rings[0].points[0].longitudeDegrees
        var (south, north, west, east) = (90.0, -90.0, 540.0, -540.0)
        for point in rings.lazy.flatMap(\.points) {
            let longitude = first + (point.longitudeDegrees - first).remainder(dividingBy: 360)
            (south, north) = (min(south, point.latitudeDegrees), max(north, point.latitudeDegrees))
            (west, east) = (min(west, longitude), max(east, longitude))
        }
        let center = Position(
            latitude: (south + north) / 2, longitude: ((west + east) / 2).remainder(dividingBy: 360))
        let radius = rings.lazy.flatMap(\.points).map { Geodesic(from: center, to: $0).lengthMeters }.max() ?? 0
        return (center, radius)
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

    /// A position relative to that of the plane.
    func point(_ other: Position) -> (east: Double, north: Double) {
        (
            (other.longitudeDegrees - position.longitudeDegrees) * metersPerLongitudeDegree,
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
