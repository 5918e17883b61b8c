import CollarJournal
import CollarWire

/// GPX 1.1: a track for each collar and animal, a segment for fixes whose sequences follow one another.
///
/// Tracks are not sorted, so that nothing has to be kept: where fixes of two collars alternate, so do their tracks.
struct GPXWriter: FormatWriter {
    var deployments: DeploymentTable
    /// The fixes of the open segment.
    private(set) var open: FixRun?

    func begin(into bytes: inout [UInt8]) {
        bytes.append(#"<?xml version="1.0" encoding="UTF-8"?>"#)
        bytes.append("\n")
        bytes.append(#"<gpx version="1.1" creator="collar-link" xmlns="http://www.topografix.com/GPX/1/1" xmlns:collar="urn:collar-link:gpx:1">"#)
        bytes.append("\n")
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        beginSegment(for: received, in: &bytes)
        bytes.appendRow { row in
            row.append(#"<trkpt lat=""#, fix.latitudeDegrees)
            // GPX has longitudes below 180°; −180° is the same meridian.
            let isAntimeridian = fix.longitudeSteps == 2 * fix.positionStep.stepsPerQuarterTurn
            row.append(#"" lon=""#, isAntimeridian ? FixedPoint(-180) : fix.longitudeDegrees, #"">"#)
            row.append("<ele>", ifKnown: fix.altitudeMeters, "</ele>")
            row.append("<time>")
            row.append(UTCTime(unixMilliseconds: fix.unixMilliseconds))
            row.append("Z</time>")
        }
        appendExtensions(received, to: &bytes)
        bytes.append("</trkpt>\n")
    }

    private func appendExtensions(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let (fix, whereabouts) = (received.fix, received.whereabouts)
        let begin = bytes.count
        bytes.append("<extensions>")
        let count = bytes.count
        bytes.appendRow { row in
            row.append("<collar:h_accuracy_m>", ifKnown: fix.horizontalAccuracyMeters, "</collar:h_accuracy_m>")
            row.append("<collar:v_accuracy_m>", ifKnown: fix.verticalAccuracyMeters, "</collar:v_accuracy_m>")
            row.append("<collar:speed_mps>", ifKnown: fix.speedMetersPerSecond, "</collar:speed_mps>")
            row.append("<collar:course_deg>", ifKnown: fix.courseDegrees, "</collar:course_deg>")
            row.append("<collar:heading_deg>", ifKnown: fix.headingDegrees, "</collar:heading_deg>")
            row.append("<collar:battery_pct>", ifKnown: fix.battery, "</collar:battery_pct>")
        }
        if let place = whereabouts?.place {
            bytes.append("<collar:place>")
            bytes.append(xmlText: place)
            bytes.append("</collar:place>")
        }
        if whereabouts?.isPrivate == true { bytes.append("<collar:private>true</collar:private>") }
        bytes.appendRow { row in
            row.append("<collar:distance_m>", ifKnown: whereabouts?.distanceMeters, "</collar:distance_m>")
            row.append("<collar:bearing_deg>", ifKnown: whereabouts?.bearingDegrees, "</collar:bearing_deg>")
        }
        if bytes.count > count { bytes.append("</extensions>") } else { bytes.removeLast(count - begin) }
    }

    /// Begins a segment, and before it a track if the collar or the animal is another one. Nothing begins if the fix continues
    /// the open segment.
    private mutating func beginSegment(for received: ReceivedFix, in bytes: inout [UInt8]) {
        let animal = wearer(at: received)
        if open?.take(received, animal) == true { return }
        let isSameTrack = open.map { $0.deviceID == received.deviceID && $0.animal == animal } ?? false
        if open != nil { bytes.append(isSameTrack ? "</trkseg>\n" : "</trkseg>\n</trk>\n") }
        if !isSameTrack { beginTrack(of: animal, deviceID: received.deviceID, in: &bytes) }
        bytes.append("<trkseg>\n")
        open = FixRun(received, animal)
    }

    private func beginTrack(of animal: Animal?, deviceID: DeviceID, in bytes: inout [UInt8]) {
        let collar = "collar \(deviceID)"
        bytes.append("<trk><name>")
        bytes.append(xmlText: animal?.name ?? collar)
        bytes.append("</name>")
        if let species = animal?.species {
            bytes.append("<desc>")
            bytes.append(xmlText: species)
            bytes.append("</desc>")
        }
        bytes += "<src>\(collar)</src>\n".utf8
    }

    mutating func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8]) {
        open?.take(message, of: deviceID)
    }

    mutating func end(into bytes: inout [UInt8]) {
        if open != nil { bytes.append("</trkseg>\n</trk>\n") }
        bytes.append("</gpx>\n")
        open = nil
    }
}

/// A FeatureCollection of GeoJSON (RFC 7946): a point for each fix, with the values of a fix line as properties; what is unknown is
/// null. The altitude is a property only, because altitudes of GeoJSON's positions are above the ellipsoid, not above the sea.
struct GeoJSONWriter: FormatWriter {
    var deployments: DeploymentTable
    private(set) var isContinued = false

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
            row.append(#"","log":"#, identifier.logID.rawValue)
            row.append(#","rx_unix_ms":"#, received.receptionUnixMilliseconds, orUnknown: "null")
            row.append(#","rssi_dbm":"#, ifKnown: received.strengthDBm)
            row.append(#","snr_db":"#, ifKnown: received.signalToNoiseDB)
        }
        if let animal = wearer(at: received) {
            bytes.append(#","name":"#)
            bytes.append(jsonString: animal.name)
        }
        if let whereabouts = received.whereabouts { bytes.append(whereabouts) }
        bytes.append("}}")
    }

    func end(into bytes: inout [UInt8]) { bytes.append("\n]}\n") }
}
