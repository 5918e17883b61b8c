/// Counts of what a station has done so far.
package struct StationStatistics: Equatable, Sendable {
    /// Frames the collar sent.
    package var uplinkFrames = 0
    /// Bytes of the frames the collar sent, without stuffing and delimiters.
    package var uplinkBytes = 0
    /// Airtime of the frames the collar sent, in microseconds.
    package var airtimeMicroseconds: Int64 = 0
    /// Frames of the collar that another frame destroyed.
    package var collisions = 0
    /// Frames the host sent.
    package var downlinkFrames = 0
    /// Airtime of the frames the host sent, in microseconds.
    package var downlinkAirtimeMicroseconds: Int64 = 0
    /// Expected airtime, in microseconds, if each fix made so far were sent in an absolute frame of its own, again and again
    /// until it arrives: the frame's airtime ÷ (1 − loss).
    package var boundMicroseconds = 0.0

    /// Airtime of both ends as a multiple of ``boundMicroseconds``; 0 if no fix was made.
    package var airtimeOverBound: Double {
        boundMicroseconds > 0 ? Double(airtimeMicroseconds + downlinkAirtimeMicroseconds) / boundMicroseconds : 0
    }

    /// Adds the counts of the collar of another station, and its bound. Frames of the host are not added, because one frame
    /// can be for several collars.
    mutating func addUplink(_ other: StationStatistics) {
        uplinkFrames += other.uplinkFrames
        uplinkBytes += other.uplinkBytes
        airtimeMicroseconds += other.airtimeMicroseconds
        collisions += other.collisions
        boundMicroseconds += other.boundMicroseconds
    }
}
