import CollarControl
import CollarWire

/// What the link to a collar does, as its running receiver tells it. The values of several collars are added.
public struct LinkTelemetry: Equatable, Sendable {
    /// Fixes that wait in the collar; nil before its first status.
    public let queueDepth: Int?
    /// Fixes that are known to exist and were not received; nil before the receiver knows of any.
    public let missingFixes: Int?
    /// Frames that the collar has sent again, by its last status; nil before it.
    public let retransmissions: Int?
    /// Time for which the collar has transmitted, in seconds, by its last status; nil before it.
    public let collarAirtime: Double?
    /// Time for which the receiver has transmitted since its start, in seconds, to all collars.
    public let receiverAirtime: Double?
    /// Fixes and messages that were received again since the start of the receiver, of all collars.
    public let duplicates: Int?
    /// Frames that arrived damaged and were dropped since the start of the receiver, of all collars.
    public let droppedFrames: Int?
}

extension LinkTelemetry {
    init(_ figures: ReceiverFigures, _ isWanted: (DeviceID) -> Bool) {
        let collars = figures.collars.filter { isWanted($0.key) }.values
        func sum(_ figure: CollarFigure) -> Int? {
            let values = collars.compactMap { $0[figure] }
            return values.isEmpty ? nil : Int(values.reduce(0, &+))
        }
        queueDepth = sum(.queueDepth)
        missingFixes = sum(.missing)
        retransmissions = sum(.retransmissions)
        collarAirtime = sum(.airtime).map { Double($0) / 1000 }
        receiverAirtime = figures.values[.airtime].map { Double($0) / 1_000_000 }
        duplicates = figures.values[.duplicates].map { Int($0) }
        droppedFrames = figures.values[.damagedFrames].map { Int($0) }
    }
}
