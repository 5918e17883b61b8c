import CollarWire

/// Comma-separated values with the names of Movebank's attributes: degrees, metres, metres a second, times in UTC. `heading` is
/// the direction of motion, as Movebank defines it. An unknown value is empty.
struct MovebankWriter: FormatWriter {
    private static let header =
        "timestamp,location-long,location-lat,height-above-msl,ground-speed,heading,gps-horizontal-accuracy-estimate,"
        + "tag-local-identifier,individual-local-identifier,individual-taxon-canonical-name,sensor-type\n"

    private struct LogTexts {
        /// The fields of the collar and the animal, and the kind of sensor.
        let tail: [UInt8]

        init(_ log: LogOfAnimal) {
            var tail = Array(",\(log.collar),".utf8)
            if let animal = log.animal { tail.append(csvField: animal.name) }
            tail.append(UInt8(ascii: ","))
            if let species = log.animal?.species { tail.append(csvField: species) }
            self.tail = tail + ",gps\n".utf8
        }
    }

    private let numbers = NumberBytes()
    private var times = TimeTexts()
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { LogTexts($0) } }

    mutating func begin(into bytes: inout [UInt8]) { bytes += MovebankWriter.header.utf8 }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        scratch.removeAll()
        times.append(fix.unixMilliseconds, separator: UInt8(ascii: " "), to: &scratch)
        comma()
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        comma()
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        comma()
        if let steps = fix.altitudeSteps { scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers) }
        comma()
        if let speed = fix.speedDecimetersPerSecond { scratch.append(tenths: speed, numbers: numbers) }
        comma()
        if let course = fix.course { scratch.append(course, numbers: numbers) }
        comma()
        if let accuracy = fix.horizontalAccuracy { scratch.append(numbers.text(of: accuracy)) }
        scratch.copy(to: &bytes)
        bytes += logs.current.tail
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }

    @inline(__always)
    private mutating func comma() { scratch.append(character: UInt8(ascii: ",")) }
}
