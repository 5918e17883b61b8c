import CollarFormats
import CollarHost

// Figures at one moment: lines of JSON, as `Protocol/schema/stats.schema.json` describes them.

extension ReceiverReading {
    /// The line of the receiver as a whole.
    func line(_ now: Int64) -> [UInt8] {
        let counts = host.statistics
        var object = JSONLine(type: "stats", unixMilliseconds: now)
        object.add("fixes_stored", counts.fixes)
        object.add("messages_stored", counts.messages)
        object.add("duplicates", counts.duplicates)
        object.add("uptime_s", uptimeMicroseconds / 1_000_000)
        object.add("lines", lineCount)
        object.add("frames", counts.frames)
        object.add("frames_damaged", counts.damagedFrames)
        object.add("frames_unknown", counts.unknownFrames)
        object.add("frames_unsupported", counts.unsupportedFrames)
        object.add("frames_malformed", counts.malformedFrames)
        object.add("output_blocked_ms", outputBlockedMilliseconds)
        object.add("storage_failing", host.isStorageFailing)
        object.add(journalByteCount: host.journalByteCount, host.lag)
        return object.line
    }
}

extension CollarReading {
    /// The line of one collar.
    /// - Parameter animals: which animal wears it.
    func line(_ now: Int64, _ animals: DeploymentTable) -> [UInt8] {
        var object = JSONLine(type: "stats", unixMilliseconds: now)
        object.add(collar: deviceID, name: animals.wearer(of: deviceID, at: now)?.name)
        object.add("log", logID)
        object.add("fixes_stored", fixCount)
        object.add("messages_stored", messageCount)
        object.add("duplicates", duplicateCount)
        object.add("highest_seq", highestSequence)
        object.add("missing", missingCount)
        object.add(journalByteCount: journalByteCount, lag)
        return object.line
    }
}

extension JSONLine {
    fileprivate mutating func add(journalByteCount: Int?, _ lag: EmissionLag?) {
        add("journal_bytes", journalByteCount)
        add("lag_bytes", lag?.byteCount)
        add("lag_ms", lag?.milliseconds)
    }
}
