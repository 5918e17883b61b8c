import CollarWire

/// Writes fixes as lines of JSON, straight from their integer codes.
///
/// No number passes through a `Double`, so a line contains neither stray digits nor −0. An unknown altitude, heading or
/// time of reception is null, an unknown name, signal strength or signal-to-noise ratio is left out, and any other unknown
/// value is −1. Writing a line allocates nothing if the buffer is large enough and the texts of the fix's log are already kept.
package struct FixLineWriter: Sendable {
    /// The shapes of a fix line.
    package enum Flavour: String, Sendable, CaseIterable {
        /// All keys; the position is in a nested `coordinate`.
        case full
        /// `lat` and `lon` at the top level and no `id`; otherwise as ``full``.
        case compact
    }

    private let flavour: Flavour
    private let sourceOverride: FixSource?
    private var members: FixMembers
    private var logs: LogMemory<LogLineBytes>

    /// Creates a writer.
    /// - Parameters:
    ///   - flavour: the shape of the lines.
    ///   - sourceAs: the `source` to write in every line, for a program that knows only `watchOS` and `iOS`; nil to write
    ///     each fix's own source.
    ///   - deployments: which animal wears which collar.
    package init(flavour: Flavour = .full, sourceAs: FixSource? = nil, deployments: DeploymentTable = DeploymentTable()) {
        self.flavour = flavour
        sourceOverride = sourceAs
        members = FixMembers(FixLineKeys(flavour))
        logs = LogMemory(deployments) { LogLineBytes($0) }
    }

    /// Appends one line, which ends with a line feed.
    ///
    /// Complexity: about 950 instructions, independent of the buffer's length unless it has to grow.
    /// - Precondition: the fix is valid (`Fix.validate()`).
    package mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        members.scratch.removeAll()
        members.scratch.append(members.keys.head)
        if flavour == .full {
            members.scratch.append(logs.current.identifierHead)
            members.scratch.append(hexadecimal: fix.sequence)
        }
        members.scratch.append(members.keys.time)
        members.scratch.append(fix.unixMilliseconds)
        members.scratch.append(members.keys.sources[sourceOverride ?? fix.source])
        members.scratch.append(members.keys.latitude)
        members.scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: members.numbers)
        members.scratch.append(members.keys.longitude)
        members.scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: members.numbers)
        members.appendValues(fix)
        members.appendProvenance(received, collar: logs.current.collar, log: logs.current.log)
        if logs.current.isNamed { members.append(name: logs.current.name, to: &bytes) }
        members.finish(to: &bytes)
    }

    /// Changes which animal wears which collar, from the next line on.
    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
