import CollarTracking
import CollarWire
import Testing

@testable import CollarFormats

@Suite("Lines for Home Assistant") struct HomeAssistantWriterTests {
    private let collar = "0123456789abcdef"

    /// The lines that announce a collar.
    /// - Parameter name: as a string of JSON.
    private func device(_ collar: String, _ name: String) -> String {
        func entity(_ component: String, _ key: String, _ members: String) -> String {
            """
            homeassistant/\(component)/collar_\(collar)\(key.isEmpty ? "" : "/" + key)/config {"~":"collar-link/\(collar)",\
            "unique_id":"collar_\(collar)\(key.isEmpty ? "" : "_" + key)",\(members),"device":{"identifiers":["collar_\(collar)"],"name":\(name)}}

            """
        }
        return [
            entity("device_tracker", "", #""name":null,"json_attributes_topic":"~/attributes","state_topic":"~/location","source_type":"gps""#),
            entity("sensor", "battery", #""name":"Battery","state_topic":"~/attributes","value_template":"{{ value_json.get('battery_level') }}","device_class":"battery","unit_of_measurement":"%","state_class":"measurement""#),
            entity("sensor", "last_fix", #""name":"Last fix","state_topic":"~/attributes","value_template":"{{ value_json.get('time') }}","device_class":"timestamp""#),
            entity("sensor", "rssi", #""name":"Signal","state_topic":"~/attributes","value_template":"{{ value_json.get('rssi') }}","device_class":"signal_strength","state_class":"measurement","entity_category":"diagnostic","unit_of_measurement":"dBm""#),
            entity("sensor", "snr", #""name":"Signal to noise","state_topic":"~/attributes","value_template":"{{ value_json.get('snr') }}","device_class":"signal_strength","state_class":"measurement","entity_category":"diagnostic","unit_of_measurement":"dB""#),
            entity("sensor", "missing", #""name":"Missing fixes","state_topic":"~/missing","state_class":"measurement","entity_category":"diagnostic""#),
            entity("sensor", "place", #""name":"Place","state_topic":"~/place","value_template":"{{ value_json.get('place','unknown') }}""#),
            entity("binary_sensor", "reachable", #""name":"Reachable","state_topic":"~/reachable","device_class":"connectivity""#),
            entity("button", "locate", #""name":"Locate","command_topic":"~/command","payload_press":"locate","qos":1,"availability_topic":"collar-link/commands""#),
            entity("button", "sound", #""name":"Sound","command_topic":"~/command","payload_press":"sound","qos":1,"availability_topic":"collar-link/commands""#),
        ].joined()
    }

    private func reachability(_ isHeard: Bool, of collar: String) -> String {
        """
        collar-link/\(collar)/location \(isHeard ? "None" : "unknown")
        collar-link/\(collar)/reachable \(isHeard ? "ON" : "OFF")

        """
    }

    private var position: String {
        """
        collar-link/\(collar)/attributes {"latitude":37.7749,"longitude":-122.4194,"gps_accuracy":5.268,"altitude":10,\
        "vertical_accuracy":12.471,"speed":0.5,"course":180,"battery_level":85,"rssi":-107,"snr":-0.5,"time":"2023-11-07T23:53:54.567Z"}
        collar-link/\(collar)/place {"time":"2023-11-07T23:53:54.567Z"}

        """ + reachability(true, of: collar)
    }

    @Test func aCollarIsADevice() {
        #expect(
            document(.homeassistant, [knownFix(), knownFix()], worn(by: awkwardName))
                == device(collar, #""Al, \"the\" <&>\u000a=Zoë\\""#) + position + position)
    }

    @Test("Two collars are two devices; a fix of unknown accuracy is none") func twoCollars() {
        #expect(
            document(.homeassistant, [knownFix(), unknownFix(), edgeFix(), knownFix()])
                == device(collar, "\"collar \(collar)\"") + position + device("00000000000000ab", "\"collar 00000000000000ab\"") + """
                    collar-link/00000000000000ab/attributes {"latitude":-90,"longitude":180,"gps_accuracy":0,"altitude":-0.4,\
                    "speed":0,"course":0,"battery_level":0,"time":"1969-12-31T23:59:59.999Z"}
                    collar-link/00000000000000ab/place {"time":"1969-12-31T23:59:59.999Z"}

                    """ + reachability(true, of: "00000000000000ab") + position)
    }

    @Test("The place of a fix; outside of all it is away", arguments: [(37.7749, "\"garden\""), (60, "\"away\"")] as [(Double, String)])
    func places(latitude: Double, place: String) throws {
        var options = FormatOptions(.homeassistant)
        let center = try #require(Position(latitudeDegrees: latitude, longitudeDegrees: -122.4194))
        options.annotations.places = PlaceTable([Place(name: "garden", shape: .circle(center: center, radiusMeters: 100))])
        var formatter = EntryFormatter(options)
        var bytes: [UInt8] = []
        formatter.append(knownFix(), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).contains("/place {\"place\":\(place),\"time\":\"2023-11-07T23:53:54.567Z\"}\n"))
    }

    // MARK: Reachability

    /// The lines after the announcement.
    private func lines(_ append: (inout EntryFormatter, inout [UInt8]) -> Void) -> String {
        var options = FormatOptions(.homeassistant)
        options.deployments = worn(by: "Athena")
        var formatter = EntryFormatter(options)
        var bytes: [UInt8] = []
        formatter.begin(into: &bytes)
        append(&formatter, &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        let head = device(collar, "\"Athena\"")
        return text.hasPrefix(head) ? String(text.dropFirst(head.count)) : text
    }

    private func event(_ text: String) -> String { lines { $0.append(event: Array((text + "\n").utf8), to: &$1) } }

    private var unreachable: String {
        "collar-link/\(collar)/place {\"time\":\"2023-11-07T23:53:54.567Z\"}\n" + reachability(false, of: collar)
    }

    @Test func linesOfLinks() {
        func link(_ event: String) -> String {
            self.event(#"{"type":"link","unix_ms":1699401234567,"event":"\#(event)","port":"/dev/ttyUSB0","collar":"\#(collar)","silent_ms":180000}"#)
        }
        #expect(link("unreachable") == unreachable)
        for word in ["heard", "reachable"] { #expect(link(word) == reachability(true, of: collar)) }
        for word in ["late", "degraded", "unhealthy", "healthy", "restarted"] { #expect(link(word) == "") }
        #expect(event(#"{"type":"link","unix_ms":1699401234567,"event":"unplugged","port":"/dev/ttyUSB0"}"#) == "")
        #expect(event(#"{"type":"link","unix_ms":1699401234567,"event":"unreach"#) == "")
    }

    @Test func linesOfFigures() {
        #expect(event(#"{"type":"stats","unix_ms":1699401234567,"fixes_stored":3}"#) == "")
        #expect(
            event(#"{"type":"stats","unix_ms":1699401234567,"collar":"\#(collar)","log":7,"missing":12}"#)
                == "collar-link/\(collar)/missing 12\n")
    }

    @Test func alertsOfSilence() {
        func told(_ event: Alert.Event) -> String {
            let time: Int64 = 1_699_401_234_567
            let alert = Alert(event, .time(unixMilliseconds: time), unixMilliseconds: time)
            return lines { $0.append(RaisedAlert(alert, of: 0x0123_4567_89AB_CDEF, fix: nil), to: &$1) }
        }
        #expect(told(.silent(since: 0)) == unreachable)
        #expect(told(.heard(since: 0)) == reachability(true, of: collar))
        #expect(told(.batteryLow(percent: 20)) == "")
        #expect(told(.restarted) == "")
    }
}
