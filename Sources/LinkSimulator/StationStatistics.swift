/// What a station has done so far.
public struct StationStatistics: Equatable, Sendable {
    /// Frames the collar sent.
    public var uplinkFrames = 0
    /// Their bytes, as bare frames.
    public var uplinkBytes = 0
    /// Their time on the air, in microseconds.
    public var airtimeMicroseconds: Int64 = 0
    /// Frames of the collar that another frame destroyed.
    public var collisions = 0
    /// Frames the host sent.
    public var downlinkFrames = 0
    /// Their time on the air, in microseconds.
    public var downlinkAirtimeMicroseconds: Int64 = 0
    /// What the fixes made so far would take in the absolute form, one a frame, each as often as it takes until it
    /// arrives: airtime ÷ (1 − loss), in microseconds.
    public var boundMicroseconds = 0.0

    /// Airtime of both ends as a multiple of the bound; 0 where no fix was made.
    public var airtimeOverBound: Double {
        boundMicroseconds > 0 ? Double(airtimeMicroseconds + downlinkAirtimeMicroseconds) / boundMicroseconds : 0
    }

    /// Adds what the collar of another station sent, and its bound; a frame of the host may be for both.
    mutating func addUplink(_ other: StationStatistics) {
        uplinkFrames += other.uplinkFrames
        uplinkBytes += other.uplinkBytes
        airtimeMicroseconds += other.airtimeMicroseconds
        collisions += other.collisions
        boundMicroseconds += other.boundMicroseconds
    }
}
