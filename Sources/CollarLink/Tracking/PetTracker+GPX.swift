import CollarFormats
import CollarWire

extension PetTracker {
    /// ``locationHistory`` as a document of GPX 1.1, for maps and other programs. Fixes that are of no collar's log are left out.
    public var historyAsGPX: String {
        var options = FormatOptions(.gpx)
        // The fixes are those that may be shown.
        options.showsExactPositions = true
        if case .animal(_, let table) = try? collar.choice.selection(collar.access).wanted { options.deployments = table }
        var formatter = EntryFormatter(options)
        var bytes: [UInt8] = []
        formatter.begin(into: &bytes)
        for location in locationHistory {
            guard let id = FixIdentifier(location.id),
                let fix = try? Fix(quantizing: location, positionStep: .e7, altitudeStep: .decimeter)
            else { continue }
            formatter.append(ReceivedFix(deviceID: id.deviceID, logID: id.logID, receivedUnixMilliseconds: nil, fix: fix), to: &bytes)
        }
        formatter.end(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
