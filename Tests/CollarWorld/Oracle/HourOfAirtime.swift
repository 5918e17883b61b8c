/// The airtime in the hour that ends now. It is exact: of a frame at the start of the hour, only the part within the hour
/// counts.
struct HourOfAirtime {
    static let microseconds: Int64 = 3_600_000_000

    private var frames: [(start: Int64, end: Int64)] = []
    private var firstWithin = 0
    private var wholeMicroseconds: Int64 = 0

    /// Adds a frame that is over.
    /// - Parameters:
    ///   - start: in microseconds; not before the end of the frame before.
    ///   - end: in microseconds; if the frame was cut short, the time of the cut.
    /// - Returns: the airtime in the hour that ends with the frame, in microseconds. An hour that ends at another moment never
    ///   holds more than the larger of the two neighbouring results, because the airtime grows only while a frame is sent.
    mutating func add(start: Int64, end: Int64) -> Int64 {
        frames.append((start, end))
        wholeMicroseconds += end - start
        let edge = end - HourOfAirtime.microseconds
        while frames[firstWithin].end <= edge {
            wholeMicroseconds -= frames[firstWithin].end - frames[firstWithin].start
            firstWithin += 1
        }
        return wholeMicroseconds - max(0, edge - frames[firstWithin].start)
    }
}
