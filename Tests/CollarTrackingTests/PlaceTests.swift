import Testing

@testable import CollarTracking

private func position(_ latitude: Double, _ longitude: Double) throws -> Position {
    try #require(Position(latitudeDegrees: latitude, longitudeDegrees: longitude))
}

@Suite struct PlaceTests {
    @Test func aCircleHasItsBorderAtItsRadius() throws {
        let circle = Place(name: "home", shape: .circle(center: try position(50.17, -5.114), radiusMeters: 100))
        #expect(circle.distanceMeters(from: try position(50.17, -5.114)) == -100)
        // A thousandth of a degree of latitude has 111.2 m here.
        #expect(abs(circle.distanceMeters(from: try position(50.171, -5.114)) - 11.2) < 0.1)
    }

    /// A rectangle in degrees.
    private func rectangle(_ south: Double, _ west: Double, _ north: Double, _ east: Double) throws -> [Position] {
        [try position(south, west), try position(south, east), try position(north, east), try position(north, west)]
    }

    private func area(_ polygons: [[Position]]...) throws -> Place {
        Place(name: "meadow", shape: .area(try #require(Area(polygons: polygons))))
    }

    /// The depth of an area is a lower bound: for a square of 1,113.2 m by 1,105.7 m, at most 552.9 m.
    @Test func eachPartOfAPlaceHasADepth() throws {
        let field = try rectangle(0, 10, 0.01, 10.01)
        // Three kilometres away, 111.3 m by 110.6 m.
        let (garden, square) = (try rectangle(0.03, 10, 0.031, 10.001), try area([field]))
        #expect(square.depthsMeters.count == 1 && square.depthsMeters[0] > 552 && square.depthsMeters[0] < 553)
        let both = try area([field], [garden])
        #expect(both.depthsMeters.count == 2 && both.depthsMeters[1] > 55 && both.depthsMeters[1] < 55.4)
        #expect(both.border(from: try position(0.0305, 10.0005)).part == 1)
        let circle = Place(name: "home", shape: .circle(center: try position(50, 7), radiusMeters: 60))
        #expect(circle.depthsMeters == [60])
    }

    @Test("what is in any polygon is inside, also where polygons overlap, in either direction of their corners")
    func polygonsOverlap() throws {
        let (garden, house) = (try rectangle(0, 10, 0.01, 10.01), try rectangle(0.004, 10.004, 0.006, 10.006))
        for inner in [house, house.reversed(), garden, garden.reversed()] {
            let area = try area([garden], [inner])
            // In the middle of both: the border of the garden is 552.9 m away.
            #expect(abs(area.distanceMeters(from: try position(0.005, 10.005)) + 552.9) < 0.5)
            #expect(abs(area.distanceMeters(from: try position(0.002, 10.005)) + 221.1) < 0.5)
            #expect(abs(area.distanceMeters(from: try position(0.005, 10.011)) - 111.3) < 0.5)
        }
    }

    @Test("an edge between two neighbours is no border, in either direction of their corners", arguments: [false, true])
    func neighbours(isReversed: Bool) throws {
        let west = try rectangle(0, 10, 0.01, 10.01)
        let east = try rectangle(0, 10.01, 0.01, 10.02)
        let area = try area([west], [isReversed ? east.reversed() : east])
        #expect(area.depthsMeters.count == 1)
        #expect(abs(area.distanceMeters(from: try position(0.005, 10.0101)) + 552.9) < 0.5)
        #expect(abs(area.distanceMeters(from: try position(0.001, 10.01)) + 110.6) < 0.5)
        #expect(abs(area.distanceMeters(from: try position(0.005, 10.021)) - 111.3) < 0.5)
    }

    /// RFC 7946, section 3.1.9, cuts a polygon at the antimeridian.
    @Test func aPlaceThatIsCutAtTheAntimeridianIsWhole() throws {
        let area = try area([try rectangle(-17, 179.99, -16.99, 180)], [try rectangle(-17, -180, -16.99, -179.99)])
        for longitude in [180.0, -180, 179.9999, -179.9999] {
            #expect(abs(area.distanceMeters(from: try position(-16.995, longitude)) + 553.2) < 0.5)
        }
        #expect(area.depthsMeters.count == 1)
    }

    /// A square of a hundredth of a degree with a hole, at the equator: 1,113.2 m by 1,105.7 m.
    @Test func anAreaHasAHole() throws {
        let outer = [try position(0, 10), try position(0, 10.01), try position(0.01, 10.01), try position(0.01, 10)]
        let hole = [try position(0.004, 10.004), try position(0.004, 10.006), try position(0.006, 10.006), try position(0.006, 10.004)]
        let area = Place(name: "meadow", shape: .area(try #require(Area(rings: [outer, hole]))))
        #expect(abs(area.distanceMeters(from: try position(0.002, 10.005)) + 221.1) < 0.5)
        #expect(abs(area.distanceMeters(from: try position(0.005, 10.005)) - 110.6) < 0.5)
        #expect(abs(area.distanceMeters(from: try position(0.005, 10.011)) - 111.3) < 0.5)
        // Beside a corner: 111.3 m to the east of it and 110.6 m to the north.
        #expect(abs(area.distanceMeters(from: try position(0.011, 10.011)) - 156.9) < 0.5)
    }

    @Test(arguments: [179.999, -179.999]) func anAreaLiesOverTheAntimeridian(longitude: Double) throws {
        let corners = [try position(-17, 179.99), try position(-17, -179.99), try position(-16.99, -179.99), try position(-16.99, 179.99)]
        for ring in [corners, corners.reversed(), Array(corners[1...] + corners[..<1])] {
            let area = Place(name: "Taveuni", shape: .area(try #require(Area(rings: [ring]))))
            #expect(abs(area.distanceMeters(from: try position(-16.995, longitude)) + 553.2) < 0.5)
            #expect(area.distanceMeters(from: try position(-16.995, -longitude.sign(179.98))) > 0)
            let (center, radius) = area.circle
            #expect(abs(abs(center.longitudeDegrees) - 180) < 1e-9 && abs(center.latitudeDegrees + 16.995) < 1e-9)
            #expect(abs(radius - 1199.9) < 2)
        }
    }

    /// A position on the other side of the Earth is outside, also on the meridian that is opposite to the area.
    @Test(arguments: [-179.995, -90.001, -5.114, 0, 89.999, 179.995]) func theOtherSideOfTheEarthIsOutside(longitude: Double) throws {
        func wrapped(_ degrees: Double) throws -> Position { try position(0.005, degrees.remainder(dividingBy: 360)) }
        let west = (longitude - 0.01).remainder(dividingBy: 360)
        let east = (longitude + 0.01).remainder(dividingBy: 360)
        let outer = [try position(0, west), try position(0, east), try position(0.01, east), try position(0.01, west)]
        let inner = [try position(0.004, longitude), try position(0.004, east), try position(0.006, east), try position(0.006, longitude)]
        let area = try area([outer, inner])
        #expect(area.distanceMeters(from: try wrapped(longitude - 0.005)) < 0)
        #expect(area.distanceMeters(from: try wrapped(longitude + 0.005)) > 0)
        for offset in stride(from: 179.98, through: 180.02, by: 0.001) {
            #expect(area.distanceMeters(from: try wrapped(longitude + offset)) > 0, "\(offset)")
        }
    }

    @Test func twoCornersAreNoArea() throws {
        #expect(Area(rings: []) == nil)
        #expect(Area(rings: [[try position(0, 0), try position(1, 1)]]) == nil)
    }

    @Test func thePrivateOneOfTwoPlacesCountsElseTheFirst() throws {
        let center = try position(50, 5)
        let (field, house, yard) = (
            Place(name: "field", shape: .circle(center: center, radiusMeters: 500)),
            Place(name: "house", shape: .circle(center: center, radiusMeters: 20), isPrivate: true),
            Place(name: "yard", shape: .circle(center: center, radiusMeters: 100))
        )
        let table = PlaceTable([field, yard, house])
        #expect(table.place(at: center) == house)
        #expect(table.place(at: try position(50.0005, 5)) == field)
        #expect(table.place(at: try position(50.01, 5)) == nil)
        #expect(table.home == nil)
    }
}

extension Double {
    /// A number with the sign of this one.
    fileprivate func sign(_ number: Double) -> Double { self < 0 ? -number : number }
}
