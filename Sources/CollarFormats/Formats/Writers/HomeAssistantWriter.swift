import CollarTracking
import CollarWire

/// Lines of `TOPIC PAYLOAD` for Home Assistant over MQTT, all to be published as retained messages. A collar is a device. Before its first
/// line in a document, and where its name changes, stand the lines by which Home Assistant discovers its entities.
///
/// Home Assistant takes a missing accuracy for 0, so a fix of unknown accuracy is left out, or has the accuracy that the user gives. Any
/// other unknown value is left out of its line.
///
/// The position of a collar that is not heard stays in `attributes`, for the map. `location` says whether it counts: by `None` Home
/// Assistant finds the zone of the position, and `unknown` is the state itself.
struct HomeAssistantWriter: FormatWriter {
    /// The largest number of announced collars that are kept; forged ids must not fill the memory.
    private static let rememberedCollars = 64

    var deployments: DeploymentTable
    /// The accuracy of fixes whose accuracy is unknown, in metres; nil to leave them out.
    let unknownAccuracy: FixedPoint?
    /// The collars that the document announces, with the names that were announced last.
    private(set) var announced: [DeviceID: String?] = [:]

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
            row.append(#","rssi":"#, ifKnown: received.strengthDBm)
            row.append(#","snr":"#, ifKnown: received.signalToNoiseDB)
            row.append(#","time":""#)
            row.append(UTCTime(unixMilliseconds: fix.unixMilliseconds))
            row.append("Z\"}\n")
        }
        let place = received.whereabouts.map { $0.place ?? "away" }
        append(place: place, of: received.deviceID, at: fix.unixMilliseconds, to: &bytes)
        append(isHeard: true, received.deviceID, to: &bytes)
    }

    /// Of the alerts, those of silence, which also come while no receiver runs.
    mutating func append(_ line: AlertLine, to bytes: inout [UInt8]) {
        let raised = line.raised
        let isHeard: Bool
        switch raised.alert.event {
        case .silent: isHeard = false
        case .heard: isHeard = true
        default: return
        }
        append(isHeard: isHeard, raised.deviceID, at: raised.alert.unixMilliseconds, to: &bytes)
    }

    /// Of the lines of events, those that say whether a collar is reachable, and how many of its entries are missing.
    mutating func append(event line: [UInt8], to bytes: inout [UInt8]) {
        guard let object = try? JSONScanner.value(of: line), let time = object["unix_ms"]?.integer(in: Int64.min...Int64.max),
            let deviceID = object["collar"]?.text.flatMap({ DeviceID(hexadecimal: $0) })
        else { return }
        if let missing = object["missing"]?.integer(in: 0...UInt64.max) {
            announce(deviceID, deployments.wearer(of: deviceID, at: time)?.name, in: &bytes)
            bytes += "collar-link/\(deviceID)/missing \(missing)\n".utf8
        }
        switch object["event"]?.text {
        case "unreachable": append(isHeard: false, deviceID, at: time, to: &bytes)
        case "heard", "reachable": append(isHeard: true, deviceID, at: time, to: &bytes)
        default: break
        }
    }

    // MARK: Parts

    private mutating func append(isHeard: Bool, _ deviceID: DeviceID, at unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        announce(deviceID, deployments.wearer(of: deviceID, at: unixMilliseconds)?.name, in: &bytes)
        // Where the animal is then, the next fix says: it has a later time, unlike those of a backlog.
        if !isHeard { append(place: nil, of: deviceID, at: unixMilliseconds, to: &bytes) }
        append(isHeard: isHeard, deviceID, to: &bytes)
    }

    private func append(isHeard: Bool, _ deviceID: DeviceID, to bytes: inout [UInt8]) {
        bytes += "collar-link/\(deviceID)/location \(isHeard ? "None" : "unknown")\n".utf8
        bytes += "collar-link/\(deviceID)/reachable \(isHeard ? "ON" : "OFF")\n".utf8
    }

    private func append(place: String?, of deviceID: DeviceID, at unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        bytes += "collar-link/\(deviceID)/place {".utf8
        if let place {
            bytes.append("\"place\":")
            bytes.append(jsonString: place)
            bytes.append(",")
        }
        bytes += "\"time\":\"\(utcText(unixMilliseconds: unixMilliseconds))\"}\n".utf8
    }

    private mutating func announce(_ deviceID: DeviceID, _ name: String?, in bytes: inout [UInt8]) {
        if let known = announced[deviceID], known == name { return }
        if announced[deviceID] == nil, announced.count == HomeAssistantWriter.rememberedCollars { announced.removeAll() }
        announced.updateValue(name, forKey: deviceID)
        let device = [UInt8](jsonString: name ?? "collar \(deviceID)")
        for entity in HomeAssistantEntity.all { entity.append(to: &bytes, deviceID, deviceName: device) }
    }
}

/// An entity of a collar's device in Home Assistant.
private struct HomeAssistantEntity {
    /// The kind of entity, and its name in topics, which is empty for the tracker: it has the name of the device.
    let component, key: String
    /// The members of JSON that no other entity has. A topic that begins with `~` is one of the collar.
    let members: String

    private init(_ component: String, _ key: String, _ members: String) { (self.component, self.key, self.members) = (component, key, members) }

    static let all = [
        HomeAssistantEntity(
            "device_tracker", "", #""name":null,"json_attributes_topic":"~/attributes","state_topic":"~/location","source_type":"gps""#),
        sensor("battery", "Battery", "battery_level", #""device_class":"battery","unit_of_measurement":"%","state_class":"measurement""#),
        sensor("last_fix", "Last fix", "time", #""device_class":"timestamp""#),
        sensor("rssi", "Signal", "rssi", signal + #""unit_of_measurement":"dBm""#),
        sensor("snr", "Signal to noise", "snr", signal + #""unit_of_measurement":"dB""#),
        HomeAssistantEntity(
            "sensor", "missing",
            #""name":"Missing fixes","state_topic":"~/missing","state_class":"measurement","entity_category":"diagnostic""#),
        HomeAssistantEntity(
            "sensor", "place", #""name":"Place","state_topic":"~/place","value_template":"{{ value_json.get('place','unknown') }}""#),
        HomeAssistantEntity("binary_sensor", "reachable", #""name":"Reachable","state_topic":"~/reachable","device_class":"connectivity""#),
        button("locate", "Locate"),
        button("sound", "Sound"),
    ]

    private static let signal = #""device_class":"signal_strength","state_class":"measurement","entity_category":"diagnostic","#

    /// A value of the attributes; where it is absent, the template gives `None`, which is an unknown state.
    private static func sensor(_ key: String, _ name: String, _ attribute: String, _ members: String) -> HomeAssistantEntity {
        HomeAssistantEntity(
            "sensor", key,
            #""name":"\#(name)","state_topic":"~/attributes","value_template":"{{ value_json.get('\#(attribute)') }}",\#(members)"#)
    }

    /// A button, which is available while a program obeys it.
    private static func button(_ verb: String, _ name: String) -> HomeAssistantEntity {
        HomeAssistantEntity(
            "button", verb,
            #""name":"\#(name)","command_topic":"~/command","payload_press":"\#(verb)","qos":1,"availability_topic":"collar-link/commands""#)
    }

    /// - Parameter deviceName: as a string of JSON.
    func append(to bytes: inout [UInt8], _ deviceID: DeviceID, deviceName: [UInt8]) {
        let (topic, suffix) = key.isEmpty ? ("", "") : ("/\(key)", "_\(key)")
        bytes += "homeassistant/\(component)/collar_\(deviceID)\(topic)/config {\"~\":\"collar-link/\(deviceID)\",".utf8
        bytes += "\"unique_id\":\"collar_\(deviceID)\(suffix)\",\(members),".utf8
        bytes += "\"device\":{\"identifiers\":[\"collar_\(deviceID)\"],\"name\":".utf8
        bytes += deviceName
        bytes += "}}\n".utf8
    }
}
