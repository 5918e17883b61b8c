/// The constant pieces of a fix as members of JSON objects, in the order of the line, then the texts that stand for unknown
/// values.
struct FixLineKeys {
    let head: InlineBytes
    let time: InlineBytes
    let sources = FixSourceTexts(prefix: ",\"source\":\"", suffix: "\"")
    let latitude: InlineBytes
    let longitude: InlineBytes
    let altitude: InlineBytes
    let horizontalAccuracy = InlineBytes(",\"h_accuracy_m\":")
    let verticalAccuracy = InlineBytes(",\"v_accuracy_m\":")
    let speed = InlineBytes(",\"speed_mps\":")
    let course = InlineBytes(",\"course_deg\":")
    let heading = InlineBytes(",\"heading_deg\":")
    let battery = InlineBytes(",\"battery_pct\":")
    let sequence = InlineBytes(",\"seq\":")
    let strength = InlineBytes(",\"rssi_dbm\":")
    let signalToNoise = InlineBytes(",\"snr_db\":")
    let end: InlineBytes
    let null = InlineBytes("null")
    /// Stands for an unknown accuracy, speed, course or battery.
    let unknown: InlineBytes

    /// The pieces of a fix line.
    init(_ flavour: FixLineWriter.Flavour) {
        switch flavour {
        case .full:
            head = InlineBytes("{\"type\":\"fix\",\"id\":\"")
            time = InlineBytes("\",\"ts_unix_ms\":")
            latitude = InlineBytes(",\"coordinate\":{\"latitude\":")
            longitude = InlineBytes(",\"longitude\":")
            altitude = InlineBytes("},\"alt_m\":")
        case .compact:
            head = InlineBytes("{\"type\":\"fix\"")
            time = InlineBytes(",\"ts_unix_ms\":")
            latitude = InlineBytes(",\"lat\":")
            longitude = InlineBytes(",\"lon\":")
            altitude = InlineBytes(",\"alt_m\":")
        }
        end = InlineBytes("}\n")
        unknown = InlineBytes("-1")
    }

    /// The pieces of a Feature of GeoJSON, which gives the longitude first.
    init(featureHead: String) {
        head = InlineBytes(featureHead)
        latitude = InlineBytes(",")
        longitude = InlineBytes("\"coordinates\":[")
        time = InlineBytes("]},\"properties\":{\"ts_unix_ms\":")
        altitude = InlineBytes(",\"alt_m\":")
        end = InlineBytes("}}")
        unknown = null
    }
}
