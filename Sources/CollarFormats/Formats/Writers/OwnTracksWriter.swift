import CollarWire

/// OwnTracks' `location` as a JSON object a line: whole seconds, metres, kilometres an hour, degrees and percent. An unknown value is
/// left out. Accuracies are rounded up, so that none looks better than it is.
///
/// `topic` is the MQTT topic `owntracks/USER/DEVICE`, by which the consumers tell devices apart, with the collar as the device. `tid`
/// is what a map shows at the position: two characters.
struct OwnTracksWriter: FormatWriter {
    private struct Keys {
        let latitude = InlineBytes("\",\"lat\":")
        let longitude = InlineBytes(",\"lon\":")
        let time = InlineBytes(",\"tst\":")
        let horizontalAccuracy = InlineBytes(",\"acc\":")
        let altitude = InlineBytes(",\"alt\":")
        let verticalAccuracy = InlineBytes(",\"vac\":")
        let speed = InlineBytes(",\"vel\":")
        let course = InlineBytes(",\"cog\":")
        let battery = InlineBytes(",\"batt\":")
        let end = InlineBytes("}\n")
    }

    private struct LogTexts {
        /// The members that are the same for each fix, and the first digits of the id.
        let head: [UInt8]

        init(_ log: LogOfAnimal) {
            let initials = log.animal.map { String($0.name.filter { $0.isLetter || $0.isNumber }.prefix(2)) } ?? ""
            var head = Array("{\"_type\":\"location\",\"tid\":".utf8)
            head.append(jsonString: initials.count == 2 ? initials : String(log.collar.suffix(2)))
            head += ",\"topic\":\"owntracks/collar-link/\(log.collar)\",\"_id\":\"".utf8
            self.head = head + log.identifierHeadText.utf8
        }
    }

    private let keys = Keys()
    private let numbers = NumberBytes()
    private let accuracies = AccuracyTexts { "\(($0 + 999) / 1000)" }
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { LogTexts($0) } }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        bytes += logs.current.head
        scratch.removeAll()
        scratch.append(hexadecimal: fix.sequence)
        scratch.append(keys.latitude)
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.longitude)
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.time)
        // Rounded down, also before 1970.
        scratch.append((fix.unixMilliseconds - (fix.unixMilliseconds < 0 ? 999 : 0)) / 1000)
        if let accuracy = fix.horizontalAccuracy {
            scratch.append(keys.horizontalAccuracy)
            scratch.append(accuracies[accuracy])
        }
        if let steps = fix.altitudeSteps {
            scratch.append(keys.altitude)
            let meters = fix.altitudeStep == .meter ? steps.magnitude : (steps.magnitude + 5) / 10
            scratch.appendMinus(if: steps < 0 && meters > 0)
            scratch.append(meters, numbers: numbers)
        }
        if let accuracy = fix.verticalAccuracy {
            scratch.append(keys.verticalAccuracy)
            scratch.append(accuracies[accuracy])
        }
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(keys.speed)
            // A decimetre a second is 0.36 km/h.
            scratch.append((speed * 36 + 50) / 100, numbers: numbers)
        }
        if let course = fix.course {
            scratch.append(keys.course)
            scratch.append(course, numbers: numbers)
        }
        if let battery = fix.batteryPercent {
            scratch.append(keys.battery)
            scratch.append(numbers.text(below1000: UInt32(battery)))
        }
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
