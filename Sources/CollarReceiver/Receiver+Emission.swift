import CollarBridge
import CollarJournal

// Entries of the journals on their way to the consumer.
extension Receiver {
    /// Writes what lines there are.
    func emitLines() throws(ReceiverError) {
        guard !isOutputBlocked else { return }
        while true {
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
                guard writesEntries, collars.contains(where: \.feed.isBehind) else { return }
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
            while collars[index].feed.isBehind, output.hasRoom, !isLineLimitReached {
                let items: [LineFeed.Item]
                do throws(JournalError) { items = try collars[index].feed.next() } catch { throw .journal(error) }
                for item in items where !isLineLimitReached { queue(item, ofCollar: index) }
            }
        }
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
