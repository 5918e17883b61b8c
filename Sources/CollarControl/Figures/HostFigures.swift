import CollarHost

extension ReceiverFigures {
    /// The figures that the host itself knows.
    package init(_ host: HostReading) {
        self.init()
        let counts = host.statistics
        values = [
            .fixes: Int64(counts.fixes), .messages: Int64(counts.messages), .duplicates: Int64(counts.duplicates),
            .frames: Int64(counts.frames), .damagedFrames: Int64(counts.damagedFrames), .unknownFrames: Int64(counts.unknownFrames),
            .unsupportedFrames: Int64(counts.unsupportedFrames), .unopenedFrames: Int64(counts.unopenedFrames),
            .malformedFrames: Int64(counts.malformedFrames), .storageFailing: host.isStorageFailing ? 1 : 0,
        ]
        values[.outputLagBytes] = host.lag.map { Int64($0.byteCount) }
        values[.outputLag] = host.lag?.milliseconds
        values[.fixLatencyAverage] = host.latencies.fix?.averageMicroseconds
        values[.fixLatencyP95] = host.latencies.fix?.p95Microseconds
        values[.lineLatencyAverage] = host.latencies.line?.averageMicroseconds
        values[.lineLatencyP95] = host.latencies.line?.p95Microseconds
        values[.messageLatencyAverage] = host.latencies.message?.averageMicroseconds
        values[.messageLatencyP95] = host.latencies.message?.p95Microseconds
        for collar in host.collars {
            var values: [CollarFigure: Int64] = [:]
            if collar.highestSequence != nil { values[.missing] = Int64(clamping: collar.missingCount) }
            values[.airtime] = collar.status.map { Int64($0.airtimeMilliseconds) }
            values[.retransmissions] = collar.status.map { Int64($0.retransmissions) }
            values[.queueDepth] = collar.status.map { Int64($0.queueDepth) }
            values[.reachable] = collar.isReachable.map { $0 ? 1 : 0 }
            values[.heard] = collar.isHeard ? 1 : 0
            values[.boots] = collar.bootCount.map { Int64($0) }
            values[.silence] = collar.silentMicroseconds.map { $0 / 1000 }
            if let report = collar.powerReport {
                values[.gnssTime] = Int64(report.gnssSeconds)
                values[.listeningTime] = Int64(report.listeningMilliseconds)
                values[.awakeTime] = Int64(report.awakeMilliseconds)
                values[.searches] = Int64(report.searches)
                values[.searchFailures] = Int64(report.failures)
                values[.failuresInRow] = Int64(report.failuresInRow)
                values[.timeToFix] = report.timeToFixTenths.map { 100 * Int64($0) }
            }
            values[.fixInterval] = collar.fixIntervalMilliseconds.map { Int64($0) }
            values[.heartbeat] = collar.heartbeatSeconds.map { Int64($0) }
            values[.staleAge] = collar.staleAfterMilliseconds
            collars[collar.deviceID] = values
        }
    }
}
