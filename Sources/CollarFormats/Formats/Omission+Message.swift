import CollarErrors

extension Omission {
    /// What is left out, for a person.
    package var message: UserMessage {
        UserMessage(
            nil,
            fixCount.map { "\(format.rawValue) has left out \($0) fix\($0 == 1 ? "" : "es") \(format.inexpressibleFixes)" }
                ?? "\(format.rawValue) leaves out fixes \(format.inexpressibleFixes)",
            format == .homeassistant ? "To include them, give them an accuracy: `--unknown-accuracy METRES`." : nil)
    }
}

extension OutputFormat {
    /// The fixes that the format cannot express.
    fileprivate var inexpressibleFixes: String {
        switch self {
        case .homeassistant: "of unknown accuracy"
        case .influx: "from before 1677 or after 2262"
        case .nmea: "from before 1980 or after 2079"
        case .json, .text, .csv, .gpx, .geojson, .movebank, .owntracks, .traccar: "that it cannot express"
        }
    }
}
