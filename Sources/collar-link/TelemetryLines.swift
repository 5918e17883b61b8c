import CollarBridge
import CollarReceiver

extension Telemetry {
    /// The line that tells of it; nil where its kind is not wanted.
    func line(_ kinds: Set<EventKind>, unixMilliseconds now: Int64) -> [UInt8]? {
        switch self {
        case .receiver(let reading): kinds.contains(.stats) ? StatsLine(reading, now).bytes : nil
        case .collar(let reading): kinds.contains(.stats) ? StatsLine(reading, now).bytes : nil
        case .status(let deviceID, let logID, let status):
            kinds.contains(.status)
                ? StatusLine(unixMilliseconds: now, deviceID: deviceID, logID: logID, status: status).bytes : nil
        }
    }
}

extension StatsLine {
    fileprivate init(_ reading: ReceiverReading, _ now: Int64) {
        let counts = reading.statistics
        var receiver = Receiver()
        receiver.uptimeSeconds = reading.uptimeSeconds
        receiver.lineCount = counts.lines
        receiver.frameCount = counts.frames
        receiver.damagedFrameCount = counts.damagedFrames
        receiver.unknownFrameCount = counts.unknownFrames
        receiver.unsupportedFrameCount = counts.unsupportedFrames
        receiver.malformedFrameCount = counts.malformedFrames
        receiver.outputBlockedMilliseconds = reading.outputBlockedMilliseconds
        receiver.isStorageFailing = reading.isStorageFailing
        self.init(.receiver(receiver), unixMilliseconds: now)
        fixCount = counts.fixes
        duplicateCount = counts.duplicates
        journalByteCount = reading.journalByteCount
        lagByteCount = reading.lag?.byteCount
        lagMilliseconds = reading.lag?.milliseconds
    }

    fileprivate init(_ reading: CollarReading, _ now: Int64) {
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
