/// InfluxDB's line protocol: measurement `collar_fix`, tags `collar` and `name`, times in nanoseconds. Whole numbers are integer
/// fields, the others are floating point. An unknown value is left out. So is a name that the protocol cannot express, and a fix
/// outside the years of the protocol, 1677 to 2262.
///
/// A server keeps one point for each time of a series, and a second point would replace the values of the first. So the nanoseconds
/// within the millisecond of a fix are the last six digits of its sequence.
struct InfluxWriter: FormatWriter {
    /// The times of the protocol, in milliseconds since 1970: nanoseconds are a 64-bit number.
    private static let nanosecondsPerMillisecond: Int64 = 1_000_000
    private static let unixMilliseconds = Int64.min / nanosecondsPerMillisecond ... Int64.max / nanosecondsPerMillisecond - 1

    var deployments: DeploymentTable

    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        guard InfluxWriter.unixMilliseconds.contains(fix.unixMilliseconds) else { return }
        bytes.appendRow { row in
            row.append("collar_fix,collar=")
            row.append(collar: received.deviceID)
        }
        if let animal = wearer(at: received) { append(tag: animal.name, to: &bytes) }
        bytes.appendRow { row in
            row.append(" latitude=", fix.latitudeDegrees)
            row.append(",longitude=", fix.longitudeDegrees)
            row.append(",alt_m=", ifKnown: fix.altitudeMeters)
            row.append(",h_accuracy_m=", ifKnown: fix.horizontalAccuracyMeters)
            row.append(",v_accuracy_m=", ifKnown: fix.verticalAccuracyMeters)
            row.append(",speed_mps=", ifKnown: fix.speedMetersPerSecond)
            row.append(",course_deg=", ifKnown: fix.courseDegrees, "i")
            row.append(",heading_deg=", ifKnown: fix.headingDegrees, "i")
            row.append(",battery_pct=", ifKnown: fix.battery, "i")
            row.append(",seq=", fix.sequence)
            row.append("i,log=", received.identifier.logID)
            row.append("i,rx_unix_ms=", ifKnown: received.receptionUnixMilliseconds)
            row.append("i,rssi_dbm=", ifKnown: received.strengthDBm)
            row.append("i")
            row.append(",snr_db=", ifKnown: received.signalToNoiseDB)
            let nanoseconds = Int64(fix.sequence) % InfluxWriter.nanosecondsPerMillisecond
            row.append(" ", fix.unixMilliseconds &* InfluxWriter.nanosecondsPerMillisecond &+ nanoseconds)
            row.append("\n")
        }
    }

    /// Appends the tag with the name of an animal. A tag can neither be empty, nor have a control character, nor end with a backslash.
    private func append(tag name: String, to bytes: inout [UInt8]) {
        guard let last = name.utf8.last, last != UInt8(ascii: "\\"), name.utf8.allSatisfy({ $0 >= 0x20 }) else { return }
        bytes.append(",name=")
        for byte in name.utf8 {
            if [UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " ")].contains(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
    }
}
