import CollarWire

/// InfluxDB's line protocol: measurement `collar_fix`, tags `collar` and `name`, times in nanoseconds. Whole numbers are integer
/// fields, the others are floating point. An unknown value is left out. So is a name that the protocol cannot express, and a fix
/// outside the years of the protocol, 1677 to 2262.
///
/// A server keeps one point for each time of a series, and a second point would replace the values of the first. So the nanoseconds
/// within the millisecond of a fix are the last six digits of its sequence.
struct InfluxWriter: FormatWriter {
    private struct Keys {
        let latitude = InlineBytes(" latitude=")
        let longitude = InlineBytes(",longitude=")
        let altitude = InlineBytes(",alt_m=")
        let horizontalAccuracy = InlineBytes(",h_accuracy_m=")
        let verticalAccuracy = InlineBytes(",v_accuracy_m=")
        let speed = InlineBytes(",speed_mps=")
        let course = InlineBytes(",course_deg=")
        let heading = InlineBytes(",heading_deg=")
        let battery = InlineBytes(",battery_pct=")
        let sequence = InlineBytes(",seq=")
        let log = InlineBytes("i,log=")
        let reception = InlineBytes("i,rx_unix_ms=")
        let strength = InlineBytes("i,rssi_dbm=")
        let signalToNoise = InlineBytes(",snr_db=")
    }

    /// The times of the protocol, in milliseconds since 1970: nanoseconds are a 64-bit number.
    private static let nanosecondsPerMillisecond: Int64 = 1_000_000
    private static let unixMilliseconds = Int64.min / nanosecondsPerMillisecond ... Int64.max / nanosecondsPerMillisecond - 1

    private struct LogTexts {
        let logID: UInt32
        /// Measurement and tags.
        let head: [UInt8]

        init(_ log: LogOfAnimal) {
            logID = log.logID
            head = Array("collar_fix,collar=\(log.collar)".utf8) + InfluxWriter.tag(of: log.animal)
        }
    }

    private let keys = Keys()
    private let numbers = NumberBytes()
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { LogTexts($0) } }

    /// The tag with the name of an animal. A tag can neither be empty, nor have a control character, nor end with a backslash.
    private static func tag(of animal: Animal?) -> [UInt8] {
        guard let name = animal?.name, let last = name.utf8.last, last != UInt8(ascii: "\\"), name.utf8.allSatisfy({ $0 >= 0x20 })
        else { return [] }
        var tag = Array(",name=".utf8)
        for byte in name.utf8 {
            if [UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " ")].contains(byte) { tag.append(UInt8(ascii: "\\")) }
            tag.append(byte)
        }
        return tag
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        guard InfluxWriter.unixMilliseconds.contains(fix.unixMilliseconds) else { return }
        logs.find(received)
        bytes += logs.current.head
        scratch.removeAll()
        scratch.append(keys.latitude)
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.longitude)
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        appendValues(fix)
        scratch.append(keys.sequence)
        scratch.append(Int64(fix.sequence))
        scratch.append(keys.log)
        scratch.append(Int64(logs.current.logID))
        if let milliseconds = received.receivedUnixMilliseconds {
            scratch.append(keys.reception)
            scratch.append(milliseconds)
        }
        if let signal = received.signal {
            scratch.append(keys.strength)
            scratch.append(Int64(signal.strengthDBm))
        }
        scratch.append(character: UInt8(ascii: "i"))
        if let tenths = received.signal?.signalToNoiseTenthsDB {
            scratch.append(keys.signalToNoise)
            scratch.append(signalToNoiseTenthsDB: Int(tenths), numbers: numbers)
        }
        scratch.append(character: UInt8(ascii: " "))
        let nanoseconds = Int64(fix.sequence) % InfluxWriter.nanosecondsPerMillisecond
        scratch.append(fix.unixMilliseconds &* InfluxWriter.nanosecondsPerMillisecond &+ nanoseconds)
        scratch.append(character: UInt8(ascii: "\n"))
        scratch.copy(to: &bytes)
    }

    @inline(__always)
    private mutating func appendValues(_ fix: Fix) {
        if let steps = fix.altitudeSteps {
            scratch.append(keys.altitude)
            scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers)
        }
        if let accuracy = fix.horizontalAccuracy {
            scratch.append(keys.horizontalAccuracy)
            scratch.append(numbers.text(of: accuracy))
        }
        if let accuracy = fix.verticalAccuracy {
            scratch.append(keys.verticalAccuracy)
            scratch.append(numbers.text(of: accuracy))
        }
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(keys.speed)
            scratch.append(tenths: speed, numbers: numbers)
        }
        if let course = fix.course { appendInteger(keys.course, numbers.text(below1000: UInt32(course.degrees))) }
        if let heading = fix.heading { appendInteger(keys.heading, numbers.text(below1000: UInt32(heading.degrees))) }
        if let battery = fix.batteryPercent { appendInteger(keys.battery, numbers.text(below1000: UInt32(battery))) }
    }

    @inline(__always)
    private mutating func appendInteger(_ key: InlineBytes, _ value: InlineWord) {
        scratch.append(key)
        scratch.append(value)
        scratch.append(character: UInt8(ascii: "i"))
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
