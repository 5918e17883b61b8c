import CollarWire

/// JSON for Traccar's port for OsmAnd (server 6.7 or later), an object a line. `heading` is the direction of motion.
///
/// The server demands accuracy, speed and heading, and takes a negative one as unknown. An unknown altitude or battery is left out,
/// because there is no value for it; the server may refuse a position without an altitude. Beside the level of a battery the server
/// demands `is_charging`, of which nothing is known: `false` adds nothing to a position.
struct TraccarWriter: FormatWriter {
    private struct Keys {
        let head = InlineBytes("{\"location\":{\"timestamp\":\"")
        let coordinates = InlineBytes("Z\",\"coords\":{")
        let latitude = InlineBytes("\"latitude\":")
        let longitude = InlineBytes(",\"longitude\":")
        let accuracy = InlineBytes(",\"accuracy\":")
        let speed = InlineBytes(",\"speed\":")
        let heading = InlineBytes(",\"heading\":")
        let altitude = InlineBytes(",\"altitude\":")
        let battery = InlineBytes("},\"battery\":{\"level\":")
        let endOfBattery = InlineBytes(",\"is_charging\":false")
        let endOfMember = InlineBytes("}}")
        let device = InlineBytes(",\"device_id\":\"")
        let end = InlineBytes("\"}\n")
        let unknown = InlineBytes("-1")
    }

    private let keys = Keys()
    private let numbers = NumberBytes()
    /// For each percentage, its fraction of 1.
    private let fractions = (0...100).map { InlineBytes(TraccarWriter.fraction(percent: $0)) }
    private var times = TimeTexts()
    private var scratch = LineScratch()
    private var logs: LogMemory<InlineBytes>

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { InlineBytes($0.collar) } }

    /// The shortest fraction of 1 that the server shows as this percentage. It multiplies the fraction by 100 and cuts off the
    /// decimals: 0.29 would become 28.
    private static func fraction(percent: Int) -> String {
        var fraction = Double(percent) / 100
        while Int(fraction * 100) < percent { fraction = fraction.nextUp }
        let text = "\(fraction)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        scratch.removeAll()
        scratch.append(keys.head)
        times.append(fix.unixMilliseconds, separator: UInt8(ascii: "T"), to: &scratch)
        scratch.append(keys.coordinates)
        scratch.append(keys.latitude)
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.longitude)
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.accuracy)
        if let accuracy = fix.horizontalAccuracy {
            scratch.append(numbers.text(of: accuracy))
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.speed)
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(tenths: speed, numbers: numbers)
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.heading)
        if let course = fix.course { scratch.append(course, numbers: numbers) } else { scratch.append(keys.unknown) }
        if let steps = fix.altitudeSteps {
            scratch.append(keys.altitude)
            scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers)
        }
        if let battery = fix.batteryPercent {
            scratch.append(keys.battery)
            scratch.append(fractions[Int(battery)])
            scratch.append(keys.endOfBattery)
        }
        scratch.append(keys.endOfMember)
        scratch.append(keys.device)
        scratch.append(logs.current)
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
