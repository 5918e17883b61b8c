import CollarSimulator
import CollarWire

/// Fixes of an animal that walks north-east in nearly a straight line, with the fields that a watch records: no course, no
/// heading. The fixes never change, so that airtimes of different versions can be compared.
package enum SimulatedWalk {
    /// `count` fixes with `secondsApart` seconds between two of them; their sequences start at 0.
    package static func fixes(_ count: Int, secondsApart: Int64) -> [Fix] {
        var random = SeededRandom(seed: 9)
        var latitude: Int32 = 4_737_690
        var longitude: Int32 = 854_170
        return (0..<count).map { index in
            latitude += 1 + Int32(random.next() % 2)
            longitude += 1 + Int32(random.next() % 2)
            return Fix(
                sequence: UInt32(index), unixMilliseconds: 1_700_000_000_000 + Int64(index) * secondsApart * 1000,
                latitudeSteps: latitude, longitudeSteps: longitude, altitudeSteps: 400 + Int32(index / 60),
                horizontalAccuracy: AccuracyCode(rawValue: 41), verticalAccuracy: AccuracyCode(rawValue: 44),
                speedDecimetersPerSecond: 14 + UInt32(random.next() % 2),
                batteryPercent: UInt8(max(0, 90 - index / 500)))
        }
    }

    /// `count` fixes of a cat, tens of metres apart and of unknown accuracy. Three to four minutes lie between two fixes, and
    /// up to two hours of sleep more after one fix in three.
    package static func cat(_ count: Int) -> [Fix] {
        var random = SeededRandom(seed: 10)
        var milliseconds: Int64 = 1_700_000_000_000
        var latitude: Int32 = 5_017_000
        var longitude: Int32 = -511_400
        var altitude: Int32 = 70
        return (0..<count).map { index in
            milliseconds += (180 + Int64(random.next() % 60)) * 1000
            if random.next() % 3 == 0 { milliseconds += Int64(random.next() % 7200) * 1000 }
            latitude += step(of: 35, &random)
            longitude += step(of: 35, &random)
            altitude += step(of: 20, &random)
            return Fix(
                sequence: UInt32(index), unixMilliseconds: milliseconds, latitudeSteps: latitude,
                longitudeSteps: longitude, altitudeSteps: altitude,
                speedDecimetersPerSecond: UInt32(random.next() % 16), batteryPercent: UInt8(max(0, 99 - index / 25)))
        }
    }

    /// A number between −2 × `size` and 2 × `size`; small ones are more frequent.
    private static func step(of size: UInt64, _ random: inout SeededRandom) -> Int32 {
        Int32(random.next() % (2 * size + 1)) + Int32(random.next() % (2 * size + 1)) - 2 * Int32(size)
    }
}
