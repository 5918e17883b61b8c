import CollarBridge
import CollarHost
import CollarWire

/// What a receiver shall do.
public struct ReceiverConfiguration: Sendable {
    /// What the host serves, keeps and emits.
    public var host: HostConfiguration
    /// Ports the user named; empty to discover radios.
    public var ports: [String] = []
    /// Whether to wait for a radio that is not there or goes away.
    public var reconnects = true
    /// Where the control socket lies: `XDG_RUNTIME_DIR`; nil where that is not set.
    public var runtimeDirectory: String?
    /// Kinds of lines beside those of fixes and gaps.
    public var lineKinds: Set<LineKind> = []
    /// Shape of the fix lines.
    public var flavour: FixLineWriter.Flavour = .full
    /// What fix lines give as their source; nil for what it was.
    public var sourceAs: FixSource?
    /// End after this many lines; nil to go on.
    public var lineLimit: Int?
    /// End after this many microseconds; nil to go on.
    public var durationMicroseconds: Int64?
    /// Descriptor that lines are written to.
    public var output: Int32 = 1

    /// A configuration with defaults: lines of fixes alone.
    public init(stateDirectory: String) { host = HostConfiguration(stateDirectory: stateDirectory) }

    /// Chooses the kinds of lines.
    public mutating func write(_ kinds: Set<LineKind>) {
        lineKinds = kinds
        host.emitsFixes = kinds.contains(.fix)
        host.emitsGaps = kinds.contains(.gap)
    }
}

/// The kinds of lines, by the names that `--events` takes.
public enum LineKind: String, CaseIterable, Sendable {
    /// A fix.
    case fix
    /// A change of a gap.
    case gap
    /// A change of the link to a radio or a collar.
    case link
    /// Something that went wrong.
    case error
    /// Figures.
    case stats
    /// The condition of a collar.
    case status
    /// The end of a command.
    case result

    /// The kinds in a list with commas; nil where one of them is none. `all` means every kind.
    public static func kinds(in list: String) -> Set<LineKind>? {
        if list == "all" { return Set(allCases) }
        var kinds: Set<LineKind> = []
        for name in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = LineKind(rawValue: String(name)) else { return nil }
            kinds.insert(kind)
        }
        return kinds
    }
}
