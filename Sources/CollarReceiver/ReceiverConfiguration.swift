import CollarBridge
import CollarHost
import CollarWire

/// The configuration of a receiver.
public struct ReceiverConfiguration: Sendable {
    /// The configuration of the host: what it serves, keeps and emits.
    public var host: HostConfiguration
    /// Ports that the user named; empty to discover radios.
    public var ports: [String] = []
    /// How the sticks at the ports are to be used.
    public var radio = RadioConfiguration()
    /// The file in which what happens at the ports is recorded; nil for none.
    public var capturePath: String?
    /// The capture that is played back in place of ports; nil to use ports. "-" is stdin.
    public var playbackPath: String?
    /// Whether the bytes of ports are reported, as ``ReceiverNotice/traffic(path:isInbound:bytes:)``.
    public var reportsTraffic = false
    /// Whether figures are reported, as ``ReceiverNotice/figures(_:_:)``.
    public var reportsFigures = false
    /// Whether to wait for a radio that is absent or goes away.
    public var reconnects = true
    /// The directory for the control socket, `XDG_RUNTIME_DIR`; nil where that is not set.
    public var runtimeDirectory: String?
    /// Kinds of lines to write; for the lines of fixes, messages and gaps, the settings in ``host`` decide.
    public var lineKinds: Set<LineKind> = []
    /// How entries are written.
    public var format = FormatOptions()
    /// The files that say which animal wears which collar; those that go before others first. They are read again when they
    /// have changed.
    public var animalPaths: [String] = []
    /// The number of lines after which to end; nil for no limit.
    public var lineLimit: Int?
    /// The time after which to end, in microseconds; nil for no limit.
    public var durationMicroseconds: Int64?
    /// Descriptor that lines are written to.
    public var output: Int32 = 1

    /// A configuration with defaults: only the lines of fixes are written.
    public init(stateDirectory: String) { host = HostConfiguration(stateDirectory: stateDirectory) }

    /// Chooses the kinds of lines.
    public mutating func write(_ kinds: Set<LineKind>) {
        lineKinds = kinds
        host.selection.choose(kinds)
    }
}

extension LineKind {
    /// The kinds whose lines are in the event log; the others are made from the journals.
    public static let ofEvents: Set<LineKind> = [.link, .error, .stats, .status, .result]
}

/// The kinds of lines; the raw values are the names that `--events` accepts.
public enum LineKind: String, CaseIterable, Sendable {
    /// A fix.
    case fix
    /// A message of a collar's application.
    case message
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
}
