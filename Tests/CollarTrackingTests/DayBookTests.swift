import Testing

@testable import CollarTracking

@Suite struct DayBookTests {
    private static let hour: Int64 = 3_600_000
    private static let dayLength: Int64 = 24 * hour

    /// A fix at a number of metres east of 0, 0, on the equator, where a degree has 111,319.5 m.
    private func sighting(
        _ meters: Double, at hours: Double, accuracy: Double? = 3, isLate: Bool = false, battery: UInt8? = nil, place: String? = nil
    ) -> Sighting {
        Sighting(
            position: Position(latitude: 0, longitude: meters / 111_319.491), accuracyMeters: accuracy,
            unixMilliseconds: Int64(hours * Double(DayBookTests.hour)), isLate: isLate, batteryPercent: battery, place: place)
    }

    private func book(_ sightings: [Sighting]) -> DayBook {
        var book = DayBook(home: Position(latitude: 0, longitude: 0))
        for sighting in sightings { book.add(sighting, on: day(of: sighting)) }
        return book
    }

    private func day(of sighting: Sighting) -> DayBook.Day {
        let number = sighting.unixMilliseconds / DayBookTests.dayLength
        return DayBook.Day(number: number, startUnixMilliseconds: number * DayBookTests.dayLength)
    }

    /// The noise of an animal that rests is no distance: 4.2 m are nothing between two fixes of 3 m.
    @Test func noiseIsNoDistance() throws {
        let day = try #require(book((0..<1000).map { sighting($0 % 2 == 0 ? 0 : 4.2, at: Double($0) / 100) }).days[0])
        #expect(day.distanceMeters == 0 && day.fixCount == 1000)
        let walk = try #require(book((0..<11).map { sighting(Double($0) * 100, at: Double($0) / 100) }).days[0])
        #expect(abs(walk.distanceMeters - 1000) < 0.01)
        #expect(try abs(#require(walk.farthestMeters) - 1000) < 0.01)
    }

    /// Small steps add up once they leave the circle of the noise.
    @Test func aSlowWalkIsADistance() throws {
        let day = try #require(book((0...100).map { sighting(Double($0), at: Double($0) / 100) }).days[0])
        #expect(abs(day.distanceMeters - 100) < 6)
    }

    @Test func aPoorFixMovesNobody() throws {
        let day = try #require(book([sighting(0, at: 0), sighting(70, at: 1, accuracy: 80), sighting(1, at: 2)]).days[0])
        #expect(day.distanceMeters == 0)
        #expect(try #require(day.farthestMeters) < 1.1)
        // Of unknown accuracy: 10 m.
        let unknown = try #require(book([sighting(0, at: 0, accuracy: nil), sighting(14, at: 1, accuracy: nil), sighting(15, at: 2, accuracy: nil)]).days[0])
        #expect(abs(unknown.distanceMeters - 15) < 0.01)
    }

    /// A more accurate fix is the better anchor.
    @Test func theAnchorBecomesMoreAccurate() throws {
        let day = try #require(book([sighting(0, at: 0, accuracy: 40), sighting(30, at: 1), sighting(20, at: 2)]).days[0])
        #expect(abs(day.distanceMeters - 10) < 0.01)
    }

    @Test func aStepOverMidnightCountsOnTheDayOfItsEnd() {
        let days = book([sighting(0, at: 23), sighting(100, at: 25)]).days
        #expect(days[0]?.distanceMeters == 0 && days[0]?.fixCount == 1)
        #expect(abs((days[1]?.distanceMeters ?? 0) - 100) < 0.01)
    }

    @Test func timeBetweenTwoFixesBelongsToTheirPlaces() {
        let days = book([
            sighting(0, at: 20, place: "home"), sighting(0, at: 22, place: "home"), sighting(9, at: 23, place: "field"), sighting(9, at: 26, place: "field"),
            sighting(9, at: 27), sighting(9, at: 28, place: "home"), sighting(9, at: 41, place: "home"),
        ]).days
        #expect(days[0]?.timeAtPlaces == ["home": 5 * DayBookTests.hour / 2, "field": 3 * DayBookTests.hour / 2])
        // The last gap is longer than 12 hours.
        #expect(days[1]?.timeAtPlaces == ["home": DayBookTests.hour / 2, "field": 5 * DayBookTests.hour / 2])
    }

    @Test func halfOfAGapThatMidnightDividesUnequally() {
        let days = book([sighting(0, at: 20, place: "home"), sighting(0, at: 26, place: "field")]).days
        #expect(days[0]?.timeAtPlaces == ["home": 3 * DayBookTests.hour, "field": DayBookTests.hour])
        #expect(days[1]?.timeAtPlaces == ["field": 2 * DayBookTests.hour])
    }

    @Test func countsBelongToTheDayOfTheFixBefore() {
        var book = DayBook(home: nil)
        book.addLost(7)
        let first = sighting(0, at: 1, isLate: true, battery: 90)
        book.add(first, on: day(of: first))
        book.addMissing(2)
        book.addLost(3)
        let second = sighting(0, at: 2, battery: 70)
        book.add(second, on: day(of: second))
        let third = sighting(0, at: 25, battery: 80)
        book.add(third, on: day(of: third))
        #expect(book.days[0]?.missingCount == 2 && book.days[0]?.lostCount == 3 && book.days[0]?.lateCount == 1)
        #expect(book.days[0]?.firstBatteryPercent == 90 && book.days[0]?.lastBatteryPercent == 70 && book.days[0]?.lowestBatteryPercent == 70)
        #expect(book.days[1]?.missingCount == 0 && book.days[0]?.farthestMeters == nil)
    }
}
