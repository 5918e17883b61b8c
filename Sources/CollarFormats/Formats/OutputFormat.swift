import CollarWire

/// A format of output; the raw values are the names that `--format` accepts.
package enum OutputFormat: String, CaseIterable, Sendable {
    /// Lines of JSON.
    case json
    /// Lines for people.
    case text
    /// Comma-separated values (RFC 4180), with the units in the header.
    case csv
    /// Tracks of GPX 1.1.
    case gpx
    /// A FeatureCollection of GeoJSON (RFC 7946).
    case geojson
    /// A FeatureCollection of GeoJSON with the way of the animals as lines.
    case geojsonTrack = "geojson-track"
    /// Comma-separated values with the names that Movebank imports.
    case movebank
    /// The line protocol of InfluxDB.
    case influx
    /// A JSON object a line, as OwnTracks publishes positions.
    case owntracks
    /// A JSON object a line, as Traccar's server takes them at its port for OsmAnd.
    case traccar
    /// A topic and a payload a line, for Home Assistant's MQTT discovery.
    case homeassistant
    /// Sentences of NMEA 0183.
    case nmea

    package var summary: String {
        switch self {
        case .json: "one line of JSON per entry"
        case .text: "one line per entry for people"
        case .csv: "CSV, with the units in the header"
        case .gpx: "GPX 1.1: a track per collar or animal, split at missing fixes"
        case .geojson: "GeoJSON (RFC 7946): a FeatureCollection of points"
        case .geojsonTrack: "GeoJSON lines, cut at missing fixes and the antimeridian"
        case .movebank: "CSV with the column names that Movebank, ctmm and move2 read"
        case .influx: "InfluxDB line protocol: measurement `collar_fix`, nanoseconds"
        case .owntracks: "one OwnTracks `location` object per line"
        case .traccar: "JSON lines for Traccar's OsmAnd port, server 6.7 or later"
        case .homeassistant: "`TOPIC PAYLOAD` lines for Home Assistant's MQTT discovery"
        case .nmea: "NMEA 0183: GGA and RMC sentences"
        }
    }

    /// Whether the order of points is their path: consumers connect each point with the next one.
    package var isPath: Bool { [.gpx, .geojsonTrack, .nmea].contains(self) }

    /// Whether the format has places, distances and directions of fixes.
    package var hasWhereabouts: Bool { [.json, .text, .csv, .gpx, .geojson, .influx].contains(self) }

    /// Whether the format cannot express a fix of unknown accuracy.
    package var demandsAccuracy: Bool { self == .homeassistant }

    /// Whether the format has lines for messages and gaps, too.
    package var hasEvents: Bool { self == .json || self == .text }

    /// The kinds of lines of events that become other lines in the format.
    package var convertedEvents: Set<LineKind> { self == .homeassistant ? [.link, .stats] : [] }
}

package struct FormatOptions: Sendable {
    package var format = OutputFormat.json
    /// The shape of the fix lines, in JSON.
    package var flavour = FixLineWriter.Flavour.full
    /// The source that every fix line gives, in JSON; nil to give the own source of each fix.
    package var sourceAs: FixSource?
    /// The accuracy of fixes whose accuracy is unknown, in metres, for a format that cannot express these; nil to leave them out.
    package var unknownAccuracyMeters: UInt32?
    /// The time zone of times in lines for people; nil for UTC.
    package var zone: TimeZoneOffset?
    /// The time zone of quiet hours; nil for UTC.
    package var localZone: TimeZoneOffset?
    /// The width of the terminal on which lines for people appear as they come, in characters; nil for whole lines, as in a file. At a
    /// terminal, lines have short times and ids, and are broken where they are too long.
    package var terminalWidth: Int?
    package var annotations = Annotations()
    /// The owner to whom distances count; nil to leave distances out.
    package var owner: Owner?
    /// Whether positions in private places are shown.
    package var showsExactPositions = false

    package init(_ format: OutputFormat = .json) { self.format = format }

    package var deployments: DeploymentTable {
        get { annotations.deployments }
        set { annotations.deployments = newValue }
    }

    func makeWriter() -> any FormatWriter {
        switch format {
        case .json: FixLineWriter(flavour: flavour, sourceAs: sourceAs, deployments: deployments)
        case .text:
            if let terminalWidth {
                TerminalWriter(zone: zone, width: terminalWidth, deployments: deployments)
            } else {
                TextWriter(zone: zone, deployments: deployments)
            }
        case .csv: CSVWriter(deployments: deployments)
        case .gpx: GPXWriter(deployments: deployments)
        case .geojson: GeoJSONWriter(deployments: deployments)
        case .geojsonTrack: GeoJSONTrackWriter(deployments: deployments)
        case .movebank: MovebankWriter(deployments: deployments)
        case .influx: InfluxWriter(deployments: deployments)
        case .owntracks: OwnTracksWriter(deployments: deployments)
        case .traccar: TraccarWriter(deployments: deployments)
        case .homeassistant:
            HomeAssistantWriter(deployments: deployments, unknownAccuracy: unknownAccuracyMeters.map { FixedPoint($0) })
        case .nmea: NMEAWriter(deployments: deployments)
        }
    }
}
