import CollarWire

/// OwnTracks' `location` as a JSON object a line: whole seconds, metres, kilometres an hour, degrees and percent. An unknown value is
/// left out. Accuracies are rounded up, so that none looks better than it is.
///
/// `topic` is the MQTT topic `owntracks/USER/DEVICE`, by which the consumers tell devices apart, with the collar as the device. `tid`
/// is what a map shows at the position: two characters.
struct OwnTracksWriter: FormatWriter {
    var deployments: DeploymentTable
    /// The name of the last animal, and its initials as a string of JSON; the letters of Unicode take long to recognize.
    private(set) var last: (name: String, initials: [UInt8])?

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        bytes.append(#"{"_type":"location","tid":"#)
        append(initialsOf: wearer(at: received), deviceID: received.deviceID, to: &bytes)
        bytes.appendRow { row in
            row.append(#","topic":"owntracks/collar-link/"#)
            row.append(collar: received.deviceID)
            row.append(#"","_id":""#)
            row.append(received.identifier)
            row.append(#"","lat":"#, fix.latitudeDegrees)
            row.append(#","lon":"#, fix.longitudeDegrees)
            row.append(#","tst":"#, fix.unixMilliseconds.dividedDown(by: 1000).quotient)
            row.append(#","acc":"#, ifKnown: fix.horizontalAccuracy.map(OwnTracksWriter.meters))
            let altitude = fix.altitudeSteps.map { fix.altitudeStep == .meter ? $0 : ($0 + ($0 < 0 ? -5 : 5)) / 10 }
            row.append(#","alt":"#, ifKnown: altitude.map { FixedPoint($0) })
            row.append(#","vac":"#, ifKnown: fix.verticalAccuracy.map(OwnTracksWriter.meters))
            // A decimetre a second is 0.36 km/h.
            row.append(#","vel":"#, ifKnown: fix.speedDecimetersPerSecond.map { FixedPoint(($0 * 36 + 50) / 100) })
            row.append(#","cog":"#, ifKnown: fix.courseDegrees)
            row.append(#","batt":"#, ifKnown: fix.battery)
            row.append("}\n")
        }
    }

    private static func meters(_ accuracy: AccuracyCode) -> FixedPoint { FixedPoint((accuracy.knownMillimeters + 999) / 1000) }

    /// Appends the first two letters or digits of the name; the last two digits of the collar where the name has less or is unknown.
    private mutating func append(initialsOf animal: Animal?, deviceID: DeviceID, to bytes: inout [UInt8]) {
        if let name = animal?.name, last?.name != name { last = (name, OwnTracksWriter.initials(of: name)) }
        if animal != nil, let initials = last?.initials, !initials.isEmpty {
            bytes += initials
        } else {
            bytes.appendRow { row in
                row.append("\"")
                row.append(HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: deviceID.rawValue)) >> 48, byteCount: 2)
                row.append("\"")
            }
        }
    }

    /// Empty where the name has less than two letters or digits.
    private static func initials(of name: String) -> [UInt8] {
        let initials = String(name.filter { $0.isLetter || $0.isNumber }.prefix(2))
        return initials.count == 2 ? [UInt8](jsonString: initials) : []
    }
}

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
