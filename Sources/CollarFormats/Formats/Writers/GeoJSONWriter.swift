/// A FeatureCollection of GeoJSON (RFC 7946): a point for each fix, with the values of a fix line as properties; what is unknown is
/// null. The altitude is a property only, because altitudes of GeoJSON's positions are above the ellipsoid, not above the sea.
struct GeoJSONWriter: FormatWriter {
    var deployments: DeploymentTable
    /// Whether a feature precedes the next one.
    private var isContinued = false

    init(deployments: DeploymentTable) { self.deployments = deployments }

    mutating func begin(into bytes: inout [UInt8]) {
        bytes.append(#"{"type":"FeatureCollection","features":["#)
        isContinued = false
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        let identifier = received.identifier
        bytes.append(isContinued ? ",\n" : "\n")
        isContinued = true
        bytes.appendRow { row in
            row.append(#"{"type":"Feature","id":""#)
            row.append(identifier)
            row.append(#"","geometry":{"type":"Point","coordinates":["#, fix.longitudeDegrees)
            row.append(",", fix.latitudeDegrees)
            row.append(#"]},"properties":{"ts_unix_ms":"#, fix.unixMilliseconds)
            row.append(#","source":""#)
            row.append(fix.source.name)
            row.append(#"","alt_m":"#, fix.altitudeMeters, orUnknown: "null")
            row.append(#","h_accuracy_m":"#, fix.horizontalAccuracyMeters, orUnknown: "null")
            row.append(#","v_accuracy_m":"#, fix.verticalAccuracyMeters, orUnknown: "null")
            row.append(#","speed_mps":"#, fix.speedMetersPerSecond, orUnknown: "null")
            row.append(#","course_deg":"#, fix.courseDegrees, orUnknown: "null")
            row.append(#","heading_deg":"#, fix.headingDegrees, orUnknown: "null")
            row.append(#","battery_pct":"#, fix.battery, orUnknown: "null")
            row.append(#","seq":"#, fix.sequence)
            row.append(#","collar":""#)
            row.append(collar: received.deviceID)
            row.append(#"","log":"#, identifier.logID)
            row.append(#","rx_unix_ms":"#, received.receptionUnixMilliseconds, orUnknown: "null")
            row.append(#","rssi_dbm":"#, ifKnown: received.strengthDBm)
            row.append(#","snr_db":"#, ifKnown: received.signalToNoiseDB)
        }
        if let animal = wearer(at: received) {
            bytes.append(#","name":"#)
            bytes.append(jsonString: animal.name)
        }
        bytes.append("}}")
    }

    func end(into bytes: inout [UInt8]) { bytes.append("\n]}\n") }
}
