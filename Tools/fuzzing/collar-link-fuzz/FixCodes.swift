import CollarWire

/// A fix as the test vectors in `Protocol/vectors` contain it: its integer codes, with the JSON keys of the vectors.
struct FixCodes: Codable {
    var sequence: UInt32
    var time: Int64
    var source: UInt8
    var positionStep: UInt8
    var latitude: Int32
    var longitude: Int32
    var altitudeStep: UInt8
    var altitude: Int32?
    var horizontalAccuracy: UInt8?
    var verticalAccuracy: UInt8?
    var speed: UInt32?
    var course: UInt8?
    var heading: UInt8?
    var battery: UInt8?

    enum CodingKeys: String, CodingKey {
        case sequence, time, source, latitude, longitude, altitude, speed, course, heading, battery
        case positionStep = "position_step"
        case altitudeStep = "altitude_step"
        case horizontalAccuracy = "horizontal_accuracy"
        case verticalAccuracy = "vertical_accuracy"
    }

    init(_ fix: Fix) {
        sequence = fix.sequence
        time = fix.unixMilliseconds
        source = fix.source.rawValue
        positionStep = fix.positionStep.rawValue
        latitude = fix.latitudeSteps
        longitude = fix.longitudeSteps
        altitudeStep = fix.altitudeStep.rawValue
        altitude = fix.altitudeSteps
        horizontalAccuracy = fix.horizontalAccuracy?.rawValue
        verticalAccuracy = fix.verticalAccuracy?.rawValue
        speed = fix.speedDecimetersPerSecond
        course = fix.course?.steps
        heading = fix.heading?.steps
        battery = fix.batteryPercent
    }

    /// The fix; nil if its source or one of its steps is invalid.
    var fix: Fix? {
        guard let source = FixSource(rawValue: source), let positionStep = PositionStep(rawValue: positionStep),
            let altitudeStep = AltitudeStep(rawValue: altitudeStep)
        else { return nil }
        return Fix(
            sequence: sequence, unixMilliseconds: time, source: source, positionStep: positionStep,
            latitudeSteps: latitude, longitudeSteps: longitude, altitudeStep: altitudeStep, altitudeSteps: altitude,
            horizontalAccuracy: horizontalAccuracy.flatMap(AccuracyCode.init(rawValue:)),
            verticalAccuracy: verticalAccuracy.flatMap(AccuracyCode.init(rawValue:)), speedDecimetersPerSecond: speed,
            course: course.flatMap(AngleCode.init(steps:)), heading: heading.flatMap(AngleCode.init(steps:)),
            batteryPercent: battery)
    }
}
