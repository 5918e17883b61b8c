/// Comma-separated values with the names of Movebank's attributes: degrees, metres, metres a second, times in UTC. `heading` is
/// the direction of motion, as Movebank defines it. An unknown value is empty.
struct MovebankWriter: FormatWriter {
    var deployments: DeploymentTable

    func begin(into bytes: inout [UInt8]) {
        bytes.append("timestamp,location-long,location-lat,height-above-msl,ground-speed,heading,gps-horizontal-accuracy-estimate,")
        bytes.append("tag-local-identifier,individual-local-identifier,individual-taxon-canonical-name,sensor-type\n")
    }

    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        let animal = wearer(at: received)
        bytes.appendRow { row in
            row.append(UTCTime(unixMilliseconds: fix.unixMilliseconds), separator: " ")
            row.append(",", fix.longitudeDegrees)
            row.append(",", fix.latitudeDegrees)
            row.append(",", fix.altitudeMeters, orUnknown: "")
            row.append(",", fix.speedMetersPerSecond, orUnknown: "")
            row.append(",", fix.courseDegrees, orUnknown: "")
            row.append(",", fix.horizontalAccuracyMeters, orUnknown: "")
            row.append(",")
            row.append(collar: received.deviceID)
            row.append(",")
        }
        if let animal { bytes.append(csvField: animal.name) }
        bytes.append(",")
        if let species = animal?.species { bytes.append(csvField: species) }
        bytes.append(",gps\n")
    }
}
