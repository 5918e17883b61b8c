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

    /// The depth of an area is a lower bound: for a square of 1,113.2 m by 1,105.7 m, at most 552.9 m.
    @Test func thePlaceHasADepth() throws {
        let corners = [try position(0, 10), try position(0, 10.01), try position(0.01, 10.01), try position(0.01, 10)]
        let square = Place(name: "meadow", shape: .area(try #require(Area(rings: [corners]))))
        #expect(square.depthMeters > 500 && square.depthMeters < 553.5)
        let circle = Place(name: "home", shape: .circle(center: try position(50, 7), radiusMeters: 60))
        #expect(circle.depthMeters == 60)
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
