/// Airtime in a sliding hour.
struct DutyCycle {
    private static let window: Int64 = 3_600_000_000
    private var transmissions: [(end: Int64, airtime: Int64)] = []
    private var total: Int64 = 0

    /// Adds a transmission.
    /// - Returns: the airtime of the hour that ends with it, in microseconds.
    mutating func add(airtime: Int64, end: Int64) -> Int64 {
        transmissions.append((end, airtime))
        total += airtime
        while let first = transmissions.first, first.end <= end - DutyCycle.window {
            total -= first.airtime
            transmissions.removeFirst()
        }
        return total
    }
}
