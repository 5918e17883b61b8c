/// Lines of `TOPIC PAYLOAD` for Home Assistant over MQTT. Before the first fix of a collar in a document, and where its name changes,
/// stands the line of its device tracker, to be published as a retained message; then one line of attributes for each fix.
///
/// Home Assistant takes a missing accuracy for 0, so a fix of unknown accuracy is left out, or has the accuracy that the user gives. Any
/// other unknown value is left out of its line.
struct HomeAssistantWriter: FormatWriter {
    /// The largest number of announced trackers that are kept; forged ids must not fill the memory.
    private static let rememberedTrackers = 64

    var deployments: DeploymentTable
    private let unknownAccuracy: FixedPoint?
    /// The collars whose trackers the document announces, with the names that were announced last.
    private var announced: [UInt64: String?] = [:]

    /// - Parameter unknownAccuracyMeters: the accuracy of fixes whose accuracy is unknown; nil to leave them out.
    init(deployments: DeploymentTable, unknownAccuracyMeters: UInt32?) {
        self.deployments = deployments
        unknownAccuracy = unknownAccuracyMeters.map { FixedPoint($0) }
    }

    mutating func begin(into bytes: inout [UInt8]) { announced.removeAll() }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        guard let accuracy = fix.horizontalAccuracyMeters ?? unknownAccuracy else { return }
        announce(received.deviceID, wearer(at: received)?.name, in: &bytes)
        bytes.appendRow { row in
            row.append("collar-link/")
            row.append(collar: received.deviceID)
            row.append(#"/attributes {"latitude":"#, fix.latitudeDegrees)
            row.append(#","longitude":"#, fix.longitudeDegrees)
            row.append(#","gps_accuracy":"#, accuracy)
            row.append(#","altitude":"#, ifKnown: fix.altitudeMeters)
            row.append(#","vertical_accuracy":"#, ifKnown: fix.verticalAccuracyMeters)
            row.append(#","speed":"#, ifKnown: fix.speedMetersPerSecond)
            row.append(#","course":"#, ifKnown: fix.courseDegrees)
            row.append(#","battery_level":"#, ifKnown: fix.battery)
            row.append(#","time":""#)
            row.append(UTCTime(unixMilliseconds: fix.unixMilliseconds))
            row.append("Z\"}\n")
        }
    }

    private mutating func announce(_ deviceID: UInt64, _ name: String?, in bytes: inout [UInt8]) {
        if let known = announced[deviceID], known == name { return }
        if announced[deviceID] == nil, announced.count == HomeAssistantWriter.rememberedTrackers { announced.removeAll() }
        announced.updateValue(name, forKey: deviceID)
        let collar = MessageDescription.hexadecimal(deviceID)
        bytes += "homeassistant/device_tracker/collar_\(collar)/config {\"name\":".utf8
        bytes.append(jsonString: name ?? "collar \(collar)")
        bytes += ",\"unique_id\":\"collar_\(collar)\",\"json_attributes_topic\":\"collar-link/\(collar)/attributes\",".utf8
        bytes += "\"source_type\":\"gps\"}\n".utf8
    }
}
