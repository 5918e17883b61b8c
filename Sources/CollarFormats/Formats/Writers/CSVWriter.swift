import CollarWire

/// Comma-separated values (RFC 4180, lines that end with a line feed): the values of a fix line. An unknown value is empty.
struct CSVWriter: FormatWriter {
    private static let header =
        "id,ts_unix_ms,source,latitude_deg,longitude_deg,alt_m,h_accuracy_m,v_accuracy_m,speed_mps,course_deg,heading_deg,"
        + "battery_pct,seq,collar,log,rx_unix_ms,rssi_dbm,snr_db,name\n"

    private struct LogTexts {
        let identifierHead: InlineBytes
        /// The collar and the log, each after a comma, and a comma.
        let collarAndLog: InlineBytes
        let isNamed: Bool
        /// The name as a field; empty if it is unknown.
        let name: [UInt8]

        init(_ log: LogOfAnimal) {
            identifierHead = log.identifierHead
            collarAndLog = InlineBytes(",\(log.collar),\(log.logID),")
            isNamed = log.animal != nil
            var name: [UInt8] = []
            if let animal = log.animal { name.append(csvField: animal.name) }
            self.name = name
        }
    }

    private let sources = FixSourceTexts(prefix: ",", suffix: ",")
    private let numbers = NumberBytes()
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { LogTexts($0) } }

    mutating func begin(into bytes: inout [UInt8]) { bytes += CSVWriter.header.utf8 }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        scratch.removeAll()
        scratch.append(logs.current.identifierHead)
        scratch.append(hexadecimal: fix.sequence)
        comma()
        scratch.append(fix.unixMilliseconds)
        scratch.append(sources[fix.source])
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        comma()
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        comma()
        if let steps = fix.altitudeSteps { scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers) }
        comma()
        if let accuracy = fix.horizontalAccuracy { scratch.append(numbers.text(of: accuracy)) }
        comma()
        if let accuracy = fix.verticalAccuracy { scratch.append(numbers.text(of: accuracy)) }
        comma()
        if let speed = fix.speedDecimetersPerSecond { scratch.append(tenths: speed, numbers: numbers) }
        comma()
        if let course = fix.course { scratch.append(course, numbers: numbers) }
        comma()
        if let heading = fix.heading { scratch.append(heading, numbers: numbers) }
        comma()
        if let battery = fix.batteryPercent { scratch.append(numbers.text(below1000: UInt32(battery))) }
        comma()
        scratch.append(Int64(fix.sequence))
        scratch.append(logs.current.collarAndLog)
        if let milliseconds = received.receivedUnixMilliseconds { scratch.append(milliseconds) }
        comma()
        if let signal = received.signal { scratch.append(Int64(signal.strengthDBm)) }
        comma()
        if let tenths = received.signal?.signalToNoiseTenthsDB {
            scratch.append(signalToNoiseTenthsDB: Int(tenths), numbers: numbers)
        }
        comma()
        if logs.current.isNamed {
            scratch.copy(to: &bytes)
            bytes += logs.current.name
            scratch.removeAll()
        }
        scratch.append(character: UInt8(ascii: "\n"))
        scratch.copy(to: &bytes)
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }

    @inline(__always)
    private mutating func comma() { scratch.append(character: UInt8(ascii: ",")) }
}
