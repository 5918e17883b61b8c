import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Testing

@Suite("LocationFix")
struct LocationFixTests {
    @Test("Fixtures are the same each time and differ in what they say")
    func fixtures() {
        #expect(LocationFix.sample() == LocationFix.sample(sequence: 1))
        #expect(LocationFix.sample(sequence: 2).sequence == 2)
        #expect(LocationFix.sample(sequence: 2).id != LocationFix.sample(sequence: 3).id)
        #expect(LocationFix.samplePoorAccuracy().horizontalAccuracyMeters > 50)
        #expect(LocationFix.sample().horizontalAccuracyMeters == 5)
    }

    @Test("What is computed of known values")
    func computedKnown() {
        let fix = LocationFix.sample()
        #expect(fix.batteryPercentage == 85)
        #expect(fix.hasValidAccuracy && fix.hasValidAltitude && fix.hasValidSpeed && fix.hasValidCourse)
        #expect(fix.age > 0)
    }

    @Test("The way to another coordinate")
    func way() throws {
        let (here, there) = (LocationFix.Coordinate(latitude: 0, longitude: 0), LocationFix.Coordinate(latitude: 0, longitude: 1))
        // A degree of the equator: 6,378,137 m × π ÷ 180.
        #expect(abs(try #require(here.distance(to: there)) - 111_319.4908) < 0.001)
        #expect(here.bearing(to: there) == 90 && there.bearing(to: here) == 270)
        #expect(here.distance(to: here) == 0 && here.bearing(to: here) == nil)
        #expect(here.distance(to: LocationFix.Coordinate(latitude: 91, longitude: 0)) == nil)
    }

    @Test("What is computed of unknown values")
    func computedUnknown() {
        let fix = makeFix(altitude: 3, vertical: -7, horizontal: -0.5, speed: -2, course: -1, heading: -1, battery: -3)
        #expect(!fix.hasValidAccuracy && !fix.hasValidAltitude && !fix.hasValidSpeed && !fix.hasValidCourse)
        #expect(fix.batteryPercentage == -1)
        #expect(fix.horizontalAccuracyMeters == -1 && fix.verticalAccuracyMeters == -1)
        #expect(fix.speedMetersPerSecond == -1 && fix.batteryFraction == -1)
        #expect(fix.headingDegrees == nil)
        // Zero is a known value: GNSS receivers do report a vertical accuracy of exactly 0.
        let zero = makeFix(altitude: 3, vertical: 0, horizontal: 0, speed: 0, course: 0, heading: 0, battery: 0)
        #expect(zero.hasValidAccuracy && zero.hasValidAltitude && zero.hasValidSpeed && zero.hasValidCourse)
        #expect(zero.batteryPercentage == 0 && zero.headingDegrees == 0)
        #expect(!makeFix(altitude: nil, vertical: 1).hasValidAltitude)
    }

    @Test("The age is counted from the timestamp")
    func age() {
        let fix = makeFix(timestamp: Date(timeIntervalSinceNow: -100))
        #expect(fix.age >= 100 && fix.age < 160)
    }

    @Test(
        "A coordinate is valid within its ranges",
        arguments: [
            (90.0, 180.0, true), (-90, -180, true), (90.000001, 0, false), (0, 180.000001, false), (0, -181, false),
            (.nan, 0, false), (0, .infinity, false),
        ])
    func coordinates(latitude: Double, longitude: Double, isValid: Bool) {
        #expect(LocationFix.Coordinate(latitude: latitude, longitude: longitude).isValid == isValid)
    }
}

/// A fix with default values, for a test that gives only the values it is about.
func makeFix(
    timestamp: Date = Date(unixMilliseconds: 1_699_401_234_567), latitude: Double = 1, longitude: Double = 2,
    altitude: Double? = nil, vertical: Double = -1, horizontal: Double = -1, speed: Double = -1, course: Double = -1,
    heading: Double? = nil, battery: Double = -1, sequence: Int = 1
) -> LocationFix {
    LocationFix(
        timestamp: timestamp, source: .collar,
        coordinate: LocationFix.Coordinate(latitude: latitude, longitude: longitude), altitudeMeters: altitude,
        horizontalAccuracyMeters: horizontal, verticalAccuracyMeters: vertical, speedMetersPerSecond: speed,
        courseDegrees: course, headingDegrees: heading, batteryFraction: battery, sequence: sequence)
}
