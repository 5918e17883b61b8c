/// JSON for Traccar's port for OsmAnd (server 6.7 or later), an object a line. `heading` is the direction of motion.
///
/// The server demands accuracy, speed and heading, and takes a negative one as unknown. An unknown altitude or battery is left out,
/// because there is no value for it; the server may refuse a position without an altitude. Beside the level of a battery the server
/// demands `is_charging`, of which nothing is known: `false` adds nothing to a position.
struct TraccarWriter: FormatWriter {
    /// For each percentage, the shortest fraction of 1 that the server shows as this percentage. It multiplies the fraction by 100 and
    /// cuts off the decimals: 0.29 would become 28.
    private static let fractions = (0...100).map { percent in
        var fraction = Double(percent) / 100
        while Int(fraction * 100) < percent { fraction = fraction.nextUp }
        let text = "\(fraction)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    var deployments: DeploymentTable

    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        bytes.appendRow { row in
            row.append(#"{"location":{"timestamp":""#)
            row.append(UTCTime(unixMilliseconds: fix.unixMilliseconds))
            row.append(#"Z","coords":{"latitude":"#, fix.latitudeDegrees)
            row.append(#","longitude":"#, fix.longitudeDegrees)
            row.append(#","accuracy":"#, fix.horizontalAccuracyMeters, orUnknown: "-1")
            row.append(#","speed":"#, fix.speedMetersPerSecond, orUnknown: "-1")
            row.append(#","heading":"#, fix.courseDegrees, orUnknown: "-1")
            row.append(#","altitude":"#, ifKnown: fix.altitudeMeters)
            if let battery = fix.batteryPercent {
                row.append(#"},"battery":{"level":"#)
                for byte in TraccarWriter.fractions[Int(battery)].utf8 { row.append(byte) }
                row.append(#","is_charging":false"#)
            }
            row.append(#"}},"device_id":""#)
            row.append(collar: received.deviceID)
            row.append("\"}\n")
        }
    }
}
