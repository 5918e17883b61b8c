import CollarARQ
import CollarBridge
import CollarJournal

// Entries of the journals on their way to the consumer.
extension Receiver {
    /// Times the output is filled before radios and collars have their turn: some tens of milliseconds.
    private static let emissionRounds = 16
    /// Time after which a journal that cannot be read is tried again, in microseconds.
    private static let rereadInterval: Int64 = 10_000_000

    /// Writes lines, all there are or as many as keep nobody waiting.
    func emitLines() throws(ReceiverError) {
        hasMoreLines = false
        guard !isOutputBlocked else { return }
        for _ in 0..<Receiver.emissionRounds {
            try queueLines()
            let progress = output.flush { mark in
                statistics.lines += 1
                guard let coverage = mark.coverage else { return }
                let journal = collars[coverage.collar].journal
                // What is told again moves nothing.
                if coverage.position > journal.emissionCursor { journal.setEmissionCursor(coverage.position) }
            }
            switch progress {
            case .drained:
                if isLineLimitReached {
                    end = end ?? .lineLimit
                    return
                }
                guard writesEntries, collars.contains(where: isReadable) else { return }
            case .blocked:
                isOutputBlocked = true
                events.watch(output.fileDescriptor, token: Token.output, forReading: false, forWriting: true)
                return
            case .closed:
                end = .outputClosed
                return
            case .failed(let errorNumber):
                throw .output(errorNumber: errorNumber)
            }
        }
        hasMoreLines = true
    }

    var isLineLimitReached: Bool {
        guard let limit = configuration.lineLimit else { return false }
        return output.queuedLineCount >= limit
    }

    private var writesEntries: Bool { configuration.writesFixes || configuration.writesGaps }

    /// Queues what is in the journals only.
    private func queueLines() throws(ReceiverError) {
        guard writesEntries else { return }
        for index in collars.indices {
            let collar = collars[index]
            while isReadable(collar), output.hasRoom, !isLineLimitReached {
                do throws(JournalError) {
                    for item in try collar.feed.next() where !isLineLimitReached { queue(item, ofCollar: index) }
                    try uncoverDamage(of: collar)
                    collar.rereadDeadline = nil
                } catch {
                    // What comes in is stored and acknowledged all the same.
                    if collar.rereadDeadline == nil { report(.journalUnreadable(deviceID: collar.deviceID, error)) }
                    collar.rereadDeadline = now.advanced(byMicroseconds: Receiver.rereadInterval)
                }
            }
        }
    }

    /// Has the collar asked again for what damage took from segments that were read back.
    private func uncoverDamage(of collar: CollarSession) throws(JournalError) {
        for damage in collar.feed.takeDamage() {
            report(.journalDamage(deviceID: collar.deviceID, damage))
            for (logID, ranges) in try collar.journal.uncoverDamage(inSegment: damage.segment) {
                for range in ranges {
                    report(.damagedFixes(deviceID: collar.deviceID, logID: logID, first: range.first, last: range.last))
                }
            }
        }
    }

    private func isReadable(_ collar: CollarSession) -> Bool {
        collar.feed.isBehind && collar.rereadDeadline.map { now >= $0 } ?? true
    }

    /// When a journal that could not be read is tried again.
    var rereadDeadline: Instant? {
        isOutputBlocked ? nil : collars.compactMap { $0.feed.isBehind ? $0.rereadDeadline : nil }.min()
    }

    private func queue(_ item: LineFeed.Item, ofCollar index: Int) {
        switch item.content {
        case .fix(let record): queue(record, ofCollar: index, through: item.through)
        case .gap(let change):
            let line = GapLine(
                event: change.event, unixMilliseconds: change.unixMilliseconds, deviceID: collars[index].deviceID,
                logID: change.logID, first: change.range.first, last: change.range.last)
            output.queue(collar: index, through: item.through) { bytes in bytes += line.bytes }
        }
    }

    func queue(_ record: JournaledFix, ofCollar index: Int, through position: JournalPosition?) {
        let received = collars[index].received(record)
        output.queue(collar: index, through: position) { bytes in writer.append(received, to: &bytes) }
    }
}
