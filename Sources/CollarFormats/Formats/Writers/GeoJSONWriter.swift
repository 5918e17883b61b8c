import CollarWire

/// A FeatureCollection of GeoJSON (RFC 7946): a point for each fix, with the values of a fix line as properties; what is unknown is
/// null. The altitude is a property only, because altitudes of GeoJSON's positions are above the ellipsoid, not above the sea.
struct GeoJSONWriter: FormatWriter {
    private let geometry = InlineBytes("\",\"geometry\":{\"type\":\"Point\",")
    private var members = FixMembers(FixLineKeys(featureHead: "{\"type\":\"Feature\",\"id\":\""))
    private var logs: LogMemory<LogLineBytes>
    /// Whether a feature precedes the next one.
    private var isContinued = false

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { LogLineBytes($0) } }

    mutating func begin(into bytes: inout [UInt8]) {
        bytes += "{\"type\":\"FeatureCollection\",\"features\":[".utf8
        isContinued = false
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        members.scratch.removeAll()
        if isContinued { members.scratch.append(character: UInt8(ascii: ",")) }
        isContinued = true
        members.scratch.append(character: UInt8(ascii: "\n"))
        members.scratch.append(members.keys.head)
        members.scratch.append(logs.current.identifierHead)
        members.scratch.append(hexadecimal: fix.sequence)
        members.scratch.append(geometry)
        members.scratch.append(members.keys.longitude)
        members.scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: members.numbers)
        members.scratch.append(members.keys.latitude)
        members.scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: members.numbers)
        members.scratch.append(members.keys.time)
        members.scratch.append(fix.unixMilliseconds)
        members.scratch.append(members.keys.sources[fix.source])
        members.appendValues(fix)
        members.appendProvenance(received, collar: logs.current.collar, log: logs.current.log)
        if logs.current.isNamed { members.append(name: logs.current.name, to: &bytes) }
        members.finish(to: &bytes)
    }

    mutating func end(into bytes: inout [UInt8]) { bytes += "\n]}\n".utf8 }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
