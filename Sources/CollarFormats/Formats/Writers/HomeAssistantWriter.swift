import CollarWire

/// Lines of `TOPIC PAYLOAD` for Home Assistant over MQTT. Before the first fix of a collar in a document, and where its name changes,
/// stands the line of its device tracker, to be published as a retained message; then one line of attributes for each fix.
///
/// Home Assistant takes a missing accuracy for 0, so a fix of unknown accuracy is left out, or has the accuracy that the user gives. Any
/// other unknown value is left out of its line.
struct HomeAssistantWriter: FormatWriter {
    private struct Keys {
        let latitude = InlineBytes("{\"latitude\":")
        let longitude = InlineBytes(",\"longitude\":")
        let accuracy = InlineBytes(",\"gps_accuracy\":")
        let altitude = InlineBytes(",\"altitude\":")
        let verticalAccuracy = InlineBytes(",\"vertical_accuracy\":")
        let speed = InlineBytes(",\"speed\":")
        let course = InlineBytes(",\"course\":")
        let battery = InlineBytes(",\"battery_level\":")
        let time = InlineBytes(",\"time\":\"")
        let end = InlineBytes("Z\"}\n")
    }

    private struct LogTexts {
        let deviceID: UInt64
        /// The line that announces the tracker.
        let announcement: [UInt8]
        /// The topic of the attributes, and a space.
        let topic: [UInt8]

        init(_ log: LogOfAnimal) {
            deviceID = log.deviceID
            let attributes = "collar-link/\(log.collar)/attributes"
            var line = Array("homeassistant/device_tracker/collar_\(log.collar)/config {\"name\":".utf8)
            line.append(jsonString: log.animal?.name ?? "collar \(log.collar)")
            line += ",\"unique_id\":\"collar_\(log.collar)\",\"json_attributes_topic\":\"\(attributes)\",".utf8
            line += "\"source_type\":\"gps\"}\n".utf8
            announcement = line
            topic = Array("\(attributes) ".utf8)
        }
    }

    /// The largest number of announced trackers that are kept; forged ids must not fill the memory.
    private static let rememberedTrackers = 64

    private let unknownAccuracyMeters: UInt32?
    private let keys = Keys()
    private let numbers = NumberBytes()
    private var times = TimeTexts()
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>
    /// The trackers that the document announces, as they were announced last.
    private var announced: [LogTexts] = []

    /// - Parameter unknownAccuracyMeters: the accuracy of fixes whose accuracy is unknown; nil to leave them out.
    init(_ deployments: DeploymentTable, unknownAccuracyMeters: UInt32?) {
        logs = LogMemory(deployments) { LogTexts($0) }
        self.unknownAccuracyMeters = unknownAccuracyMeters
    }

    mutating func begin(into bytes: inout [UInt8]) { announced.removeAll(keepingCapacity: true) }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        guard fix.horizontalAccuracy != nil || unknownAccuracyMeters != nil else { return }
        if !logs.find(received) || announced.isEmpty { announce(in: &bytes) }
        bytes += logs.current.topic
        scratch.removeAll()
        scratch.append(keys.latitude)
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.longitude)
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.accuracy)
        if let accuracy = fix.horizontalAccuracy {
            scratch.append(numbers.text(of: accuracy))
        } else if let unknownAccuracyMeters {
            scratch.append(unknownAccuracyMeters, numbers: numbers)
        }
        if let steps = fix.altitudeSteps {
            scratch.append(keys.altitude)
            scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers)
        }
        if let accuracy = fix.verticalAccuracy {
            scratch.append(keys.verticalAccuracy)
            scratch.append(numbers.text(of: accuracy))
        }
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(keys.speed)
            scratch.append(tenths: speed, numbers: numbers)
        }
        if let course = fix.course {
            scratch.append(keys.course)
            scratch.append(course, numbers: numbers)
        }
        if let battery = fix.batteryPercent {
            scratch.append(keys.battery)
            scratch.append(numbers.text(below1000: UInt32(battery)))
        }
        scratch.append(keys.time)
        times.append(fix.unixMilliseconds, separator: UInt8(ascii: "T"), to: &scratch)
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }

    @inline(never)
    private mutating func announce(in bytes: inout [UInt8]) {
        let tracker = logs.current
        if let known = announced.firstIndex(where: { $0.deviceID == tracker.deviceID }) {
            guard announced[known].announcement != tracker.announcement else { return }
            announced[known] = tracker
        } else {
            if announced.count == HomeAssistantWriter.rememberedTrackers { announced.removeAll(keepingCapacity: true) }
            announced.append(tracker)
        }
        bytes += tracker.announcement
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
