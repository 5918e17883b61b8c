import CollarBridge
import CollarDomain
import CollarWire

/// What a receiver shall do.
public struct ReceiverConfiguration: Sendable {
    /// Ports the user named; empty to discover radios.
    public var ports: [String] = []
    /// Only this collar; nil for all.
    public var deviceID: UInt64?
    /// Shape of the fix lines.
    public var flavour: FixLineWriter.Flavour = .full
    /// What fix lines give as their source; nil for what it was.
    public var sourceAs: FixSource?
    /// Where journals are kept.
    public var stateDirectory: String
    /// Where the control socket lies: `XDG_RUNTIME_DIR`; nil where that is not set.
    public var runtimeDirectory: String?
    /// Days after which stored fixes that were written as lines are removed; nil to keep everything. A file of them goes as a
    /// whole, when the newest in it are that old.
    public var keepsDays: Int?
    /// End after this many lines; nil to go on.
    public var lineLimit: Int?
    /// End after this many microseconds; nil to go on.
    public var durationMicroseconds: Int64?
    /// Whether to wait for a radio that is not there or goes away.
    public var reconnects = true
    /// What lines begin with.
    public enum Emission: Equatable, Sendable {
        /// What the run before did not write.
        case whereItStopped
        /// The oldest entry of the journals.
        case all
        /// What was received at this time or later, in milliseconds since 1970 by the host's clock.
        case since(unixMilliseconds: Int64)
        /// What was stored behind this fix; other collars go on where they stopped.
        case behind(FixIdentifier)
    }

    /// What lines begin with.
    public var emission = Emission.whereItStopped
    /// Whether a fix is held back until all before it in its log are there or will never come.
    public var ordersBySequence = false
    /// Whether lines tell what is missing.
    public var writesGaps = false
    /// Whether fixes are written as lines. Where they are not they stay in the journal for another run.
    public var writesFixes = true
    /// The lines, each with its line feed, that tell a consumer of a notice. It is called on the receiver's thread.
    public var eventLines: @Sendable (ReceiverNotice) -> [[UInt8]] = { _ in [] }
    /// The line, with its line feed, that tells a consumer of a figure or a status; nil where it does not want to know. It is
    /// called on the receiver's thread.
    public var telemetryLine: @Sendable (Telemetry) -> [UInt8]? = { _ in nil }
    /// Whether figures are told once a minute, at SIGUSR1 and at the end.
    public var reportsStatistics = false
    /// Descriptor that lines are written to.
    public var output: Int32 = 1

    /// A configuration with defaults.
    public init(stateDirectory: String) { self.stateDirectory = stateDirectory }
}
