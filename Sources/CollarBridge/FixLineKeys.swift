/// The constant pieces of a fix line, in the order in which they are written.
struct FixLineKeys {
    let head: ShortText
    let time: ShortText
    let sources: (watchOS: ShortText, iOS: ShortText, collar: ShortText)
    let latitude: ShortText
    let longitude: ShortText
    let altitude: ShortText
    let horizontalAccuracy = ShortText(",\"h_accuracy_m\":")
    let verticalAccuracy = ShortText(",\"v_accuracy_m\":")
    let speed = ShortText(",\"speed_mps\":")
    let course = ShortText(",\"course_deg\":")
    let heading = ShortText(",\"heading_deg\":")
    let battery = ShortText(",\"battery_pct\":")
    let sequence = ShortText(",\"seq\":")
    let strength = ShortText(",\"rssi_dbm\":")
    let signalToNoise = ShortText(",\"snr_db\":")
    let end = ShortText("}\n")
    let null = ShortText("null")
    let unknown = ShortText("-1")

    init(_ flavour: FixLineWriter.Flavour) {
        sources = (
            watchOS: ShortText(",\"source\":\"watchOS\""), iOS: ShortText(",\"source\":\"iOS\""),
            collar: ShortText(",\"source\":\"collar\"")
        )
        switch flavour {
        case .full:
            head = ShortText("{\"type\":\"fix\",\"id\":\"")
            time = ShortText("\",\"ts_unix_ms\":")
            latitude = ShortText(",\"coordinate\":{\"latitude\":")
            longitude = ShortText(",\"longitude\":")
            altitude = ShortText("},\"alt_m\":")
        case .compact:
            head = ShortText("{\"type\":\"fix\"")
            time = ShortText(",\"ts_unix_ms\":")
            latitude = ShortText(",\"lat\":")
            longitude = ShortText(",\"lon\":")
            altitude = ShortText(",\"alt_m\":")
        }
    }
}
