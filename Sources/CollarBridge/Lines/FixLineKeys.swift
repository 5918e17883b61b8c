/// The constant pieces of a fix line in the order of the line, then the texts that stand for unknown values.
struct FixLineKeys {
    let head: InlineBytes
    let time: InlineBytes
    let sources: (watchOS: InlineBytes, iOS: InlineBytes, collar: InlineBytes)
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
    let end = InlineBytes("}\n")
    let null = InlineBytes("null")
    let unknown = InlineBytes("-1")

    init(_ flavour: FixLineWriter.Flavour) {
        sources = (
            watchOS: InlineBytes(",\"source\":\"watchOS\""), iOS: InlineBytes(",\"source\":\"iOS\""),
            collar: InlineBytes(",\"source\":\"collar\"")
        )
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
    }
}
