/// Comma-separated values (RFC 4180, lines that end with a line feed): the values of a fix line. An unknown value is empty.
struct CSVWriter: FormatWriter {
    var deployments: DeploymentTable

    func begin(into bytes: inout [UInt8]) {
        bytes.append("id,ts_unix_ms,source,latitude_deg,longitude_deg,alt_m,h_accuracy_m,v_accuracy_m,speed_mps,course_deg,heading_deg,")
        bytes.append("battery_pct,seq,collar,log,rx_unix_ms,rssi_dbm,snr_db,name,place,private,distance_m,bearing_deg\n")
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
            row.append(",", identifier.logID.rawValue)
            row.append(",", received.receptionUnixMilliseconds, orUnknown: "")
            row.append(",", received.strengthDBm, orUnknown: "")
            row.append(",", received.signalToNoiseDB, orUnknown: "")
            row.append(",")
        }
        if let animal = wearer(at: received) { bytes.append(csvField: animal.name) }
        bytes.append(",")
        let whereabouts = received.whereabouts
        if let place = whereabouts?.place { bytes.append(csvField: place) }
        bytes.appendRow { row in
            row.append(whereabouts?.isPrivate == true ? ",true" : ",")
            row.append(",", whereabouts?.distanceMeters, orUnknown: "")
            row.append(",", whereabouts?.bearingDegrees, orUnknown: "")
            row.append("\n")
        }
    }
}

/// Comma-separated values with the names of Movebank's attributes: degrees, metres, metres a second, times in UTC. `heading` is
/// the direction of motion, as Movebank defines it. An unknown value is empty.
///
/// Beside Movebank, two packages of R read these columns: ctmm 1.2.1 (`as.telemetry`, R/telemetry.R) and move2 0.3.0 (`mt_read`, R/mt_read.R
/// and R/movebank_constants.R).
///
/// - Animals: `individual-local-identifier`, which move2 demands. ctmm takes all fixes without one for one animal, and move2 fails where only
///   a part of a tag's fixes has one. So a collar without a name stands for its animal; the word before its id keeps R from reading a number.
/// - Errors, in metres: ctmm takes `gps-horizontal-accuracy-estimate` as it is; move2 gives `location-error-numerical` its unit.
/// - Outliers: without `visible` and columns of marks, both keep all fixes.
struct MovebankWriter: FormatWriter {
    var deployments: DeploymentTable

    func begin(into bytes: inout [UInt8]) {
        bytes.append("timestamp,location-long,location-lat,height-above-msl,ground-speed,heading,gps-horizontal-accuracy-estimate,")
        bytes.append("location-error-numerical,tag-local-identifier,individual-local-identifier,individual-taxon-canonical-name,sensor-type\n")
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
            row.append(",", fix.horizontalAccuracyMeters, orUnknown: "")
            row.append(",")
            row.append(collar: received.deviceID)
            row.append(",")
        }
        bytes.append(csvField: animal?.name ?? collarName(received.deviceID))
        bytes.append(",")
        if let species = animal?.species { bytes.append(csvField: species) }
        bytes.append(",gps\n")
    }
}

/// InfluxDB's line protocol: measurement `collar_fix`, tags `collar` and `name`, times in nanoseconds. Whole numbers are integer
/// fields, the others are floating point. An unknown value is left out. So is a name that the protocol cannot express, and a fix
/// outside the years of the protocol, 1677 to 2262.
///
/// The place is a field: as a tag, a fix that comes again after the places have changed would be a second point.
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
            row.append("i,log=", received.identifier.logID.rawValue)
            row.append("i,rx_unix_ms=", ifKnown: received.receptionUnixMilliseconds)
            row.append("i,rssi_dbm=", ifKnown: received.strengthDBm)
            row.append("i")
            row.append(",snr_db=", ifKnown: received.signalToNoiseDB)
        }
        if let whereabouts = received.whereabouts { append(whereabouts, to: &bytes) }
        bytes.appendRow { row in
            let nanoseconds = Int64(fix.sequence) % InfluxWriter.nanosecondsPerMillisecond
            row.append(" ", fix.unixMilliseconds &* InfluxWriter.nanosecondsPerMillisecond &+ nanoseconds)
            row.append("\n")
        }
    }

    private func append(_ whereabouts: Whereabouts, to bytes: inout [UInt8]) {
        if let place = whereabouts.place {
            bytes.append(",place=\"")
            for byte in place.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
            bytes.append("\"")
        }
        if whereabouts.isPrivate { bytes.append(",private=true") }
        bytes.appendRow { row in
            row.append(",distance_m=", ifKnown: whereabouts.distanceMeters)
            row.append(",bearing_deg=", ifKnown: whereabouts.bearingDegrees, "i")
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
