/// Counts of what a station has done so far.
package struct StationStatistics: Equatable, Sendable {
    package init() {}

    package var uplinkFrames = 0
    /// Frames of the collar that ask for no acknowledgement.
    package var unpolledFrames = 0
    /// Bytes of the frames the collar sent, without stuffing and delimiters.
    package var uplinkBytes = 0
    /// Airtime of the frames the collar sent, in microseconds.
    package var airtimeMicroseconds: Int64 = 0
    /// Frames of the collar that another frame destroyed.
    package var collisions = 0
    /// How often the collar sensed the channel and noticed a packet.
    package var busyCount = 0
    package var downlinkFrames = 0
    /// Airtime of the frames the host sent, in microseconds.
    package var downlinkAirtimeMicroseconds: Int64 = 0
    /// Expected airtime, in microseconds, if each fix made so far were sent in an absolute frame of its own, again and again
    /// until it arrives: the frame's airtime ÷ (1 − loss).
    package var boundMicroseconds = 0.0
    /// The times from the making of a fix to its acknowledgement, in microseconds, in the order of the fixes.
    package var delays: [Int64] = []

    /// Airtime of both ends as a multiple of ``boundMicroseconds``; 0 if no fix was made.
    package var airtimeOverBound: Double {
        boundMicroseconds > 0 ? Double(airtimeMicroseconds + downlinkAirtimeMicroseconds) / boundMicroseconds : 0
    }

    /// The part of the collar's frames that another frame destroyed, in percent; 0 if there was no frame.
    package var collidedPercent: Double { uplinkFrames > 0 ? Double(collisions) / Double(uplinkFrames) * 100 : 0 }

    /// Adds the counts of the collar of another station, and its bound. Frames of the host are not added, because one frame
    /// can be for several collars.
    mutating func addUplink(_ other: StationStatistics) {
        uplinkFrames += other.uplinkFrames
        unpolledFrames += other.unpolledFrames
        uplinkBytes += other.uplinkBytes
        airtimeMicroseconds += other.airtimeMicroseconds
        collisions += other.collisions
        busyCount += other.busyCount
        boundMicroseconds += other.boundMicroseconds
        delays += other.delays
    }

    /// These counts without those of an earlier moment.
    /// - Parameter fixCount: the fixes that were made before that moment.
    func since(_ earlier: StationStatistics, fixCount: Int) -> StationStatistics {
        var later = self
        later.uplinkFrames -= earlier.uplinkFrames
        later.unpolledFrames -= earlier.unpolledFrames
        later.uplinkBytes -= earlier.uplinkBytes
        later.airtimeMicroseconds -= earlier.airtimeMicroseconds
        later.collisions -= earlier.collisions
        later.busyCount -= earlier.busyCount
        later.downlinkFrames -= earlier.downlinkFrames
        later.downlinkAirtimeMicroseconds -= earlier.downlinkAirtimeMicroseconds
        later.boundMicroseconds -= earlier.boundMicroseconds
        later.delays = Array(delays.dropFirst(fixCount))
        return later
    }
}

extension [Int64] {
    /// The value that `percent` percent of the elements do not exceed; 0 for an empty array.
    package func percentile(_ percent: Int) -> Int64 { isEmpty ? 0 : sorted()[(count - 1) * percent / 100] }
}
