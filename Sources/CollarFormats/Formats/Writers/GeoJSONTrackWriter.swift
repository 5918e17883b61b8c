import CollarJournal
import CollarWire

/// A FeatureCollection of GeoJSON (RFC 7946) with a LineString for each run of fixes, and a Point where a fix has no neighbour. Lines
/// are cut at the antimeridian (section 3.1.9).
///
/// As in GPX, lines are not sorted, so that nothing has to be kept: where fixes of two collars alternate, each is a Point.
struct GeoJSONTrackWriter: FormatWriter {
    /// A feature whose end is not written yet.
    private struct Line {
        let first: ReceivedFix
        var last: ReceivedFix
        var fixCount = 0
        var positionCount = 0
        /// The last position. The first one is not written before a second one: until then, the feature may be a Point.
        var position: MapPosition
    }

    var deployments: DeploymentTable
    private var run: FixRun?
    private var line: Line?
    private var isContinued = false

    init(deployments: DeploymentTable) { self.deployments = deployments }

    mutating func begin(into bytes: inout [UInt8]) {
        bytes.append(#"{"type":"FeatureCollection","features":["#)
        (run, line, isContinued) = (nil, nil, false)
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let animal = wearer(at: received)
        let position = MapPosition(received.fix)
        if run?.take(received, animal) == true, let line {
            append(position.near(line.position), of: received, to: &bytes)
        } else {
            endLine(in: &bytes)
            run = FixRun(received, animal)
            beginLine(received, at: position, in: &bytes)
        }
        line?.last = received
        line?.fixCount += 1
    }

    mutating func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8]) {
        run?.take(message, of: deviceID)
    }

    mutating func end(into bytes: inout [UInt8]) {
        endLine(in: &bytes)
        bytes.append("\n]}\n")
    }

    private mutating func beginLine(_ received: ReceivedFix, at position: MapPosition, in bytes: inout [UInt8]) {
        bytes.append(isContinued ? ",\n" : "\n")
        isContinued = true
        bytes.appendRow { row in
            row.append(#"{"type":"Feature","id":""#)
            row.append(received.identifier)
            row.append(#"","geometry":{"type":""#)
        }
        line = Line(first: received, last: received, positionCount: 1, position: position)
    }

    /// Appends the position of a fix to the line, which is cut where it crosses the antimeridian.
    private mutating func append(_ position: MapPosition, of received: ReceivedFix, to bytes: inout [UInt8]) {
        if let line, let crossing = line.position.crossing(to: position) {
            if line.position != crossing { append(crossing, to: &bytes) }
            endLine(in: &bytes)
            beginLine(received, at: crossing.onOtherSide, in: &bytes)
        }
        append(position, to: &bytes)
    }

    private mutating func append(_ position: MapPosition, to bytes: inout [UInt8]) {
        guard let line else { return }
        bytes.appendRow { row in
            if line.positionCount == 1 {
                row.append(#"LineString","coordinates":["#)
                row.append(line.position)
            }
            row.append(",")
            row.append(position)
        }
        self.line?.position = position
        self.line?.positionCount += 1
    }

    private mutating func endLine(in bytes: inout [UInt8]) {
        guard let line else { return }
        bytes.appendRow { row in
            if line.positionCount == 1 {
                row.append(#"Point","coordinates":"#)
                row.append(line.position)
            } else {
                row.append("]")
            }
            row.append(#"},"properties":{"first_ts_unix_ms":"#, line.first.fix.unixMilliseconds)
            row.append(#","last_ts_unix_ms":"#, line.last.fix.unixMilliseconds)
            row.append(#","fixes":"#, line.fixCount)
            row.append(#","first_seq":"#, line.first.fix.sequence)
            row.append(#","last_seq":"#, line.last.fix.sequence)
            row.append(#","collar":""#)
            row.append(collar: line.first.deviceID)
            row.append(#"","log":"#, line.first.logID.rawValue)
        }
        if let name = run?.animal?.name {
            bytes.append(#","name":"#)
            bytes.append(jsonString: name)
        }
        bytes.append("}}")
        self.line = nil
    }
}

/// A position on a map whose left and right edges are the antimeridian. Its units are 10^-7 degrees.
private struct MapPosition: Equatable {
    private static let halfTurn: Int64 = 1_800_000_000

    let latitude: Int64
    let longitude: Int64

    private init(latitude: Int64, longitude: Int64) { (self.latitude, self.longitude) = (latitude, longitude) }

    init(_ fix: Fix) {
        let unitsPerStep = Int64(FixedPoint.scales[7 - fix.positionStep.fractionDigits])
        self.init(latitude: Int64(fix.latitudeSteps) * unitsPerStep, longitude: Int64(fix.longitudeSteps) * unitsPerStep)
    }

    private var isAtEdge: Bool { abs(longitude) == MapPosition.halfTurn }

    /// The same position at the other edge.
    var onOtherSide: MapPosition { MapPosition(latitude: latitude, longitude: -longitude) }

    /// The same position; one at the antimeridian is at the edge of the other position's side.
    func near(_ other: MapPosition) -> MapPosition {
        isAtEdge && (longitude < 0) != (other.longitude < 0) ? onOtherSide : self
    }

    /// Where the straight way to a position, the shorter one around the Earth, leaves the map; nil if it stays on the map.
    func crossing(to end: MapPosition) -> MapPosition? {
        guard abs(end.longitude - longitude) > MapPosition.halfTurn else { return nil }
        let edge = longitude < 0 ? -MapPosition.halfTurn : MapPosition.halfTurn
        let beforeEdge = Double(abs(edge - longitude))
        let beyondEdge = Double(MapPosition.halfTurn - abs(end.longitude))
        let part = beforeEdge / (beforeEdge + beyondEdge)
        return MapPosition(latitude: latitude + Int64((Double(end.latitude - latitude) * part).rounded()), longitude: edge)
    }
}

extension OutputSpan<UInt8> {
    /// Appends `[longitude,latitude]`.
    fileprivate mutating func append(_ position: MapPosition) {
        append("[", FixedPoint(position.longitude, fractionDigits: 7), ",")
        append(FixedPoint(position.latitude, fractionDigits: 7))
        append("]")
    }
}
