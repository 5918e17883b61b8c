import CollarTracking
import Testing

@testable import CollarFormats

@Suite struct OwnerLineTests {
    private func line(_ owner: Owner, _ places: [Place] = []) -> String {
        String(decoding: OwnerLine(owner, in: PlaceTable(places)).json(at: 5), as: UTF8.self)
    }

    private func position(_ latitude: Double, _ longitude: Double) throws -> Position {
        try #require(Position(latitudeDegrees: latitude, longitudeDegrees: longitude))
    }

    @Test func itSaysWhereThePositionIsFrom() throws {
        let there = try position(50.17, -5.1139055)
        let coordinate = "\"coordinate\":{\"latitude\":50.17,\"longitude\":-5.113906}"
        #expect(line(.at(there)) == "{\"type\":\"owner\",\"unix_ms\":5,\"source\":\"given\",\(coordinate)}\n")
        #expect(line(.moving(.nmea, there)) == "{\"type\":\"owner\",\"unix_ms\":5,\"source\":\"nmea\",\(coordinate)}\n")
        #expect(line(.moving(.gpsd, nil)) == "{\"type\":\"owner\",\"unix_ms\":5,\"source\":\"gpsd\"}\n")
        #expect(line(.home) == "{\"type\":\"owner\",\"unix_ms\":5,\"source\":\"home\"}\n")
        let home = Place(name: "home", shape: .circle(center: there, radiusMeters: 10))
        #expect(line(.home, [home]) == "{\"type\":\"owner\",\"unix_ms\":5,\"source\":\"home\",\(coordinate),\"place\":\"home\"}\n")
    }

    @Test func aPrivatePlaceHidesTheOwner() throws {
        let place = Place(name: "den", shape: .circle(center: try position(50, -5), radiusMeters: 200), isPrivate: true)
        let near = Owner.moving(.gpsd, try position(50.001, -5.001))
        #expect(
            line(near, [place])
                == "{\"type\":\"owner\",\"unix_ms\":5,\"source\":\"gpsd\",\"coordinate\":{\"latitude\":50,\"longitude\":-5},"
                + "\"place\":\"den\",\"private\":true}\n")
        // A step inside the place does not show.
        #expect(OwnerLine(near, in: PlaceTable([place])) == OwnerLine(.moving(.gpsd, try position(50.0011, -5)), in: PlaceTable([place])))
        #expect(OwnerLine(near, in: PlaceTable([place]), showsExactPositions: true).position == near.position(in: PlaceTable()))
    }
}
