import CollarWire

/// A format of output; the raw values are the names that `--format` accepts.
public enum OutputFormat: String, CaseIterable, Sendable {
    /// Lines of JSON.
    case json
    /// Lines for people.
    case text
}

/// How entries are written.
public struct FormatOptions: Equatable, Sendable {
    /// The format.
    public var format = OutputFormat.json
    /// The shape of the fix lines, in JSON.
    public var flavour = FixLineWriter.Flavour.full
    /// The source that every fix line gives, in JSON; nil to give the own source of each fix.
    public var sourceAs: FixSource?
    /// Which animal wears which collar.
    public var deployments = DeploymentTable()

    /// Options with defaults: full lines of JSON.
    public init(_ format: OutputFormat = .json) { self.format = format }
}
