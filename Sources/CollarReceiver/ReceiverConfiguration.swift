import CollarConfiguration
import CollarFormats
import CollarHost

package struct ReceiverConfiguration: Sendable {
    /// The configuration of the host: what it serves, keeps and emits.
    package var host: HostConfiguration
    /// Ports that the user named; empty to discover radios.
    package var ports: [String] = []
    /// How the sticks at the ports are used.
    package var radio = RadioConfiguration()
    /// The file in which what happens at the ports is recorded; nil for none.
    package var capturePath: String?
    /// The capture that is played back in place of ports; nil to use ports. "-" is stdin.
    package var playbackPath: String?
    /// Whether the bytes of ports are reported, as ``ReceiverNotice/traffic(path:isInbound:bytes:)``.
    package var reportsTraffic = false
    /// Whether figures are reported, as ``ReceiverNotice/figures(_:_:)``.
    package var reportsFigures = false
    /// Whether to wait for a radio that is absent or goes away.
    package var reconnects = true
    /// The directory for the control socket, `XDG_RUNTIME_DIR`; nil where that is not set.
    package var runtimeDirectory: String?
    /// Kinds of lines to write; for the lines of fixes, messages and gaps, the settings in ``host`` decide.
    package var lineKinds: Set<LineKind> = []
    package var format = FormatOptions()
    /// The files that say which animal wears which collar; each overrides those after it. They are read again when they
    /// have changed.
    package var animalPaths: [String] = []
    /// The files with places, in the same order.
    package var placePaths: [String] = []
    /// The number of lines after which to end; nil for no limit.
    package var lineLimit: Int?
    /// The time after which to end, in microseconds; nil for no limit.
    package var durationMicroseconds: Int64?
    /// Descriptor that lines are written to.
    package var output: Int32 = 1

    /// A configuration with defaults: only the lines of fixes are written.
    package init(stateDirectory: String) { host = HostConfiguration(stateDirectory: stateDirectory) }

    package mutating func write(_ kinds: Set<LineKind>) {
        lineKinds = kinds
        host.selection.choose(kinds)
    }
}
