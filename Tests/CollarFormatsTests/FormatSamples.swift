import CollarHost
import CollarJournal
import CollarWire

@testable import CollarFormats

/// The fix of the examples with every value known.
func knownFix() -> ReceivedFix {
    var value = received()
    value.fix.verticalAccuracy = AccuracyCode(rawValue: 66)
    value.fix.heading = AngleCode(steps: 45)
    value.signal = RadioSignal(strengthDBm: -107, signalToNoiseTenthsDB: -5)
    return value
}

/// A fix of another collar, at the first instant of 2000, with nothing known that can be unknown.
func unknownFix() -> ReceivedFix {
    ReceivedFix(
        deviceID: 0xAB, logID: 7, receivedUnixMilliseconds: nil,
        fix: Fix(sequence: 0, unixMilliseconds: 946_684_800_000, latitudeSteps: 0, longitudeSteps: 0))
}

/// A fix at the south pole and the antimeridian, a millisecond before 1970.
func edgeFix() -> ReceivedFix {
    ReceivedFix(
        deviceID: 0xAB, logID: 7, receivedUnixMilliseconds: -1,
        fix: Fix(
            sequence: 1, unixMilliseconds: -1, source: .iOS, positionStep: .e7, latitudeSteps: -900_000_000,
            longitudeSteps: 1_800_000_000, altitudeStep: .decimeter, altitudeSteps: -4, horizontalAccuracy: AccuracyCode(rawValue: 0),
            speedDecimetersPerSecond: 0, course: AngleCode(steps: 0), batteryPercent: 0))
}

/// The fix whose lines are longest.
func longestFix() -> ReceivedFix {
    let fix = Fix(
        sequence: Fix.maximumSequence, unixMilliseconds: Fix.timeRange.lowerBound, source: .watchOS, positionStep: .e7,
        latitudeSteps: -891_234_567, longitudeSteps: -1_791_234_567, altitudeStep: .decimeter, altitudeSteps: -8_388_608,
        horizontalAccuracy: AccuracyCode(rawValue: 126), verticalAccuracy: AccuracyCode(rawValue: 126),
        speedDecimetersPerSecond: 1_048_575, course: AngleCode(steps: 179), heading: AngleCode(steps: 179), batteryPercent: 100)
    return ReceivedFix(
        deviceID: 0xFFFF_FFFF_FFFF_FFFF, logID: .max, receivedUnixMilliseconds: .min, fix: fix,
        signal: RadioSignal(strengthDBm: .min, signalToNoiseTenthsDB: -32_767))
}

/// A fix at the equator with this sequence, that many seconds after 2000.
func fix(_ sequence: UInt32, device: DeviceID = 0xAB, log: LogID = 7, second: Int64 = 0) -> ReceivedFix {
    var value = unknownFix()
    value.deviceID = device
    value.logID = log
    value.fix.sequence = sequence
    value.fix.unixMilliseconds += second * 1000
    value.fix.horizontalAccuracy = AccuracyCode(rawValue: 56)
    return value
}

/// One animal at the collar of the examples, for ever.
func worn(by name: String, species: String? = nil) -> DeploymentTable {
    DeploymentTable([Deployment(animal: Animal(name: name, species: species), deviceID: 0x0123_4567_89AB_CDEF)])
}

/// The name with everything that a format could trip over.
let awkwardName = "Al, \"the\" <&>\n=Zoë\\"

/// A whole document.
func document(
    _ format: OutputFormat, _ fixes: [ReceivedFix], _ deployments: DeploymentTable = DeploymentTable(), zone: TimeZoneOffset? = nil
) -> String {
    var options = FormatOptions(format)
    options.deployments = deployments
    options.zone = zone
    var formatter = EntryFormatter(options)
    var bytes: [UInt8] = []
    formatter.begin(into: &bytes)
    for fix in fixes { formatter.append(fix, to: &bytes) }
    formatter.end(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}
