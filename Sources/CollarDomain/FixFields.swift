import FoundationEssentials

/// The JSON fields of a fix as they were found, before any of them is checked.
///
/// `LocationFix`'s decoder and the line reader both fill one in, so that both refuse the same input in the same words.
struct FixFields {
    var id: UUID?
    var unixMilliseconds: DecimalNumber?
    var source: String?
    var latitude: DecimalNumber?
    var longitude: DecimalNumber?
    /// Whether the position stood in a nested `coordinate`, for the names in messages.
    var hasNestedCoordinate = false
    var altitude: DecimalNumber?
    var horizontalAccuracy: DecimalNumber?
    var verticalAccuracy: DecimalNumber?
    var speed: DecimalNumber?
    var course: DecimalNumber?
    var heading: DecimalNumber?
    var batteryPercent: DecimalNumber?
    var sequence: DecimalNumber?

    /// The fix, if every field is present that must be and each is in its range.
    /// - Throws: the first field that is missing or wrong.
    func fix(defaultSequence: Int? = nil) throws(FixFieldError) -> LocationFix {
        guard let unixMilliseconds else { throw .missing("ts_unix_ms") }
        guard let timestamp = Date(unixMilliseconds: unixMilliseconds) else {
            throw .wrong("ts_unix_ms", "\(unixMilliseconds) is not a time in milliseconds since 1970")
        }
        return LocationFix(
            id: id ?? UUID(), timestamp: timestamp, source: try checkedSource(), coordinate: try checkedCoordinate(),
            altitudeMeters: try double(altitude, "alt_m"),
            horizontalAccuracyMeters: try double(horizontalAccuracy, "h_accuracy_m") ?? LocationFix.unknown,
            verticalAccuracyMeters: try double(verticalAccuracy, "v_accuracy_m") ?? LocationFix.unknown,
            speedMetersPerSecond: try double(speed, "speed_mps") ?? LocationFix.unknown,
            courseDegrees: try double(course, "course_deg", atMost: 360) ?? LocationFix.unknown,
            headingDegrees: try double(heading, "heading_deg", atMost: 360),
            batteryFraction: try checkedBatteryFraction(), sequence: try checkedSequence(default: defaultSequence))
    }

    private func checkedSource() throws(FixFieldError) -> LocationFix.Source {
        // A track from elsewhere need not say what made it; then it is ours.
        guard let source else { return .collar }
        guard let known = LocationFix.Source(rawValue: source) else {
            throw .wrong("source", "\"\(source)\" is not one of watchOS, iOS, collar")
        }
        return known
    }

    private func checkedCoordinate() throws(FixFieldError) -> LocationFix.Coordinate {
        if latitude == nil, longitude == nil, !hasNestedCoordinate { throw .missing("coordinate") }
        let latitudeKey = hasNestedCoordinate ? "coordinate.latitude" : "lat"
        let longitudeKey = hasNestedCoordinate ? "coordinate.longitude" : "lon"
        return LocationFix.Coordinate(
            latitude: try angle(latitude, latitudeKey, limit: 90),
            longitude: try angle(longitude, longitudeKey, limit: 180))
    }

    private func angle(_ number: DecimalNumber?, _ key: String, limit: Int) throws(FixFieldError) -> Double {
        guard let number else { throw .missing(key) }
        guard let value = number.doubleValue, value.magnitude <= Double(limit) else {
            throw .wrong(key, "\(number) is outside -\(limit)…\(limit)")
        }
        return value
    }

    private func double(
        _ number: DecimalNumber?, _ key: String, atMost limit: Int? = nil
    ) throws(FixFieldError) -> Double? {
        guard let number else { return nil }
        guard let value = number.doubleValue else { throw .wrong(key, "\(number) is too large") }
        if let limit, value > Double(limit) { throw .wrong(key, "\(number) is outside 0…\(limit)") }
        return value
    }

    private func checkedBatteryFraction() throws(FixFieldError) -> Double {
        guard let batteryPercent, !batteryPercent.isNegative else { return LocationFix.unknown }
        // Divided in decimal: 85.3 becomes the Double nearest to 0.853, which 85.3 / 100 need not be.
        guard let fraction = batteryPercent.scaled(byPowerOfTen: -2).doubleValue, fraction <= 1 else {
            throw .wrong("battery_pct", "\(batteryPercent) is outside 0…100")
        }
        return fraction
    }

    private func checkedSequence(default defaultSequence: Int?) throws(FixFieldError) -> Int {
        guard let sequence else {
            guard let defaultSequence else { throw .missing("seq") }
            return defaultSequence
        }
        guard let whole = sequence.rounded(toFractionDigits: 0) else { throw .wrong("seq", "\(sequence) is too large") }
        guard sequence.adding(-whole)?.significand == 0 else {
            throw .wrong("seq", "\(sequence) is not a whole number")
        }
        guard whole >= 0 else { throw .wrong("seq", "\(sequence) is negative") }
        return Int(whole)
    }
}

/// A field of a fix's JSON that is missing or wrong.
enum FixFieldError: Error, Equatable {
    /// A required key is absent; its name, with a dot before a nested part.
    case missing(String)
    /// The key, and what is wrong with its value.
    case wrong(String, String)

    /// The JSON key, with a dot before a nested part.
    var field: String {
        switch self {
        case .missing(let field), .wrong(let field, _): field
        }
    }

    /// What is wrong, in words.
    var problem: String {
        switch self {
        case .missing: "missing"
        case .wrong(_, let problem): problem
        }
    }
}
