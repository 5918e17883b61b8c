/// What a station has done so far.
package struct StationStatistics: Equatable, Sendable {
    /// Frames the collar sent.
    package var uplinkFrames = 0
    /// Their bytes, as bare frames.
    package var uplinkBytes = 0
    /// Their time on the air, in microseconds.
    package var airtimeMicroseconds: Int64 = 0
    /// Frames of the collar that another frame destroyed.
    package var collisions = 0
    /// Frames the host sent.
    package var downlinkFrames = 0
    /// Their time on the air, in microseconds.
    package var downlinkAirtimeMicroseconds: Int64 = 0
    /// What the fixes made so far would take in the absolute form, one a frame, each as often as it takes until it
    /// arrives: airtime ÷ (1 − loss), in microseconds.
    package var boundMicroseconds = 0.0

    /// Airtime of both ends as a multiple of the bound; 0 where no fix was made.
    package var airtimeOverBound: Double {
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
