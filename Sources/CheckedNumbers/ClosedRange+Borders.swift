/// The ranges of quantities that come from outside. Sums and differences of some of their values fit 64 bits, as do their multiples by
/// the factors between units.
extension ClosedRange<Int64> {
    /// Times in milliseconds since 1970: the 48 bits in which a journal stores them.
    package static var unixMilliseconds: Self { -1 << 47...(1 << 47) - 1 }

    /// Times in seconds since 1970, as far as ``unixMilliseconds`` has them.
    package static var unixSeconds: Self { unixMilliseconds.lowerBound / 1000...unixMilliseconds.upperBound / 1000 }

    /// Instants and durations in microseconds, and counts: what a number of JSON holds exactly.
    package static var exactNumbers: Self { 0...1 << 53 }
}
