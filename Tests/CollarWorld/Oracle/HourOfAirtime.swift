/// How much of the hour that ends now was spent sending; exact, a frame at the edge counts with the part that is within.
struct HourOfAirtime {
    static let microseconds: Int64 = 3_600_000_000

    private var frames: [(start: Int64, end: Int64)] = []
    private var firstWithin = 0
    private var wholeMicroseconds: Int64 = 0

    /// A frame is over.
    /// - Parameters:
    ///   - start: in microseconds; not before the end of the frame before.
    ///   - end: in microseconds; of a frame that was broken off, when it was.
    /// - Returns: airtime of the hour that ends with it, in microseconds. No hour between two of these ends holds more than
    ///   both: its airtime grows only while something is sent.
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
