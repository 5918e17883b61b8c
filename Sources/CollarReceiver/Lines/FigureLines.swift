import CollarBridge
import CollarHost

extension StatsLine {
    /// The figures of a receiver as a whole.
    init(_ reading: ReceiverReading, _ now: Int64) {
        let counts = reading.host.statistics
        var receiver = Receiver()
        receiver.uptimeSeconds = reading.uptimeSeconds
        receiver.lineCount = reading.lineCount
        receiver.frameCount = counts.frames
        receiver.damagedFrameCount = counts.damagedFrames
        receiver.unknownFrameCount = counts.unknownFrames
        receiver.unsupportedFrameCount = counts.unsupportedFrames
        receiver.malformedFrameCount = counts.malformedFrames
        receiver.outputBlockedMilliseconds = reading.outputBlockedMilliseconds
        receiver.isStorageFailing = reading.host.isStorageFailing
        self.init(.receiver(receiver), unixMilliseconds: now)
        fixCount = counts.fixes
        duplicateCount = counts.duplicates
        journalByteCount = reading.host.journalByteCount
        lagByteCount = reading.host.lag?.byteCount
        lagMilliseconds = reading.host.lag?.milliseconds
    }

    /// The figures of one collar.
    init(_ reading: CollarReading, _ now: Int64) {
        var collar = Collar(deviceID: reading.deviceID)
        collar.logID = reading.logID
        collar.highestSequence = reading.highestSequence
        collar.missingCount = reading.missingCount
        self.init(.collar(collar), unixMilliseconds: now)
        fixCount = reading.fixCount
        duplicateCount = reading.duplicateCount
        journalByteCount = reading.journalByteCount
        lagByteCount = reading.lag?.byteCount
        lagMilliseconds = reading.lag?.milliseconds
    }
}
