/// Comma-separated values (RFC 4180, lines that end with a line feed): the values of a fix line. An unknown value is empty.
struct CSVWriter: FormatWriter {
    var deployments: DeploymentTable

    func begin(into bytes: inout [UInt8]) {
        bytes.append("id,ts_unix_ms,source,latitude_deg,longitude_deg,alt_m,h_accuracy_m,v_accuracy_m,speed_mps,course_deg,heading_deg,")
        bytes.append("battery_pct,seq,collar,log,rx_unix_ms,rssi_dbm,snr_db,name\n")
    }

    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        let identifier = received.identifier
        bytes.appendRow { row in
            row.append(identifier)
            row.append(",", fix.unixMilliseconds)
            row.append(",")
            row.append(fix.source.name)
            row.append(",", fix.latitudeDegrees)
            row.append(",", fix.longitudeDegrees)
            row.append(",", fix.altitudeMeters, orUnknown: "")
            row.append(",", fix.horizontalAccuracyMeters, orUnknown: "")
            row.append(",", fix.verticalAccuracyMeters, orUnknown: "")
            row.append(",", fix.speedMetersPerSecond, orUnknown: "")
            row.append(",", fix.courseDegrees, orUnknown: "")
            row.append(",", fix.headingDegrees, orUnknown: "")
            row.append(",", fix.battery, orUnknown: "")
            row.append(",", fix.sequence)
            row.append(",")
            row.append(collar: received.deviceID)
            row.append(",", identifier.logID)
            row.append(",", received.receptionUnixMilliseconds, orUnknown: "")
            row.append(",", received.strengthDBm, orUnknown: "")
            row.append(",", received.signalToNoiseDB, orUnknown: "")
            row.append(",")
        }
        if let animal = wearer(at: received) { bytes.append(csvField: animal.name) }
        bytes.append("\n")
    }
}
