import CollarFormats
import CollarJournal
import CollarTracking

/// Collects the metrics of a state directory: what its journals and readers say, and what its receiver tells.
package struct MetricsReport {
    private let unixMilliseconds: Int64
    private let animals: DeploymentTable
    private let figures: ReceiverFigures?
    private var text = MetricsText()

    /// - Parameter figures: the figures of the receiver; nil where none runs, or where it does not tell them.
    package init(unixMilliseconds: Int64, animals: DeploymentTable, figures: ReceiverFigures?) {
        self.unixMilliseconds = unixMilliseconds
        self.animals = animals
        self.figures = figures
        text.add(.up, figures == nil ? 0 : 1)
        guard let figures else { return }
        for figure in ReceiverFigure.allCases {
            let metric = figure.metric
            text.add(metric.family, figures.values[figure], metric.labels)
        }
        for (code, count) in figures.errorCounts.sorted(by: { $0.key < $1.key }) {
            text.add(.errors, count, [("code", code)])
        }
        for target in PerformanceTarget.allCases {
            text.add(.targetMet, target.isMet(by: figures).map { $0 ? 1 : 0 }, [("target", target.rawValue)])
        }
    }

    /// Adds a collar, from its journal and from the figures of the receiver.
    ///
    /// Complexity: as for `JournalReader.summary(examining:)`.
    package mutating func add(_ reader: JournalReader) throws(JournalError) {
        var drain = BatteryDrain()
        let summary = try reader.summary { record in drain.add(record.fix) }
        var labels = [("collar", "\(reader.deviceID)")]
        if let animal = animals.wearer(of: reader.deviceID, at: unixMilliseconds) {
            labels.append(("name", animal.name))
        }
        text.add(.lastFix, summary.newest?.fix.unixMilliseconds, labels)
        text.add(.lastReception, summary.newest?.receivedUnixMilliseconds, labels)
        text.add(.battery, summary.newest?.fix.batteryPercent.map { Int64($0) }, labels)
        text.add(.batteryDrain, drain.milliPercentPerHour, labels)
        text.add(.strength, summary.newest?.signal.map { Int64($0.strengthDBm) }, labels)
        text.add(.signalToNoise, summary.newest?.signal?.signalToNoiseTenthsDB.map { Int64($0) }, labels)
        text.add(.stored, Int64(clamping: summary.storedCount), labels)
        text.add(.lost, Int64(clamping: summary.lostCount), labels)
        text.add(.journalBytes, Int64(summary.byteCount), labels)
        let told = figures?.collars[reader.deviceID] ?? [:]
        // The collar may have shown to the receiver that it has fixes of which the journal knows nothing yet.
        text.add(.missing, told[.missing] ?? Int64(clamping: summary.missingCount), labels)
        for figure in CollarFigure.allCases where figure != .missing { text.add(figure.metric, told[figure], labels) }
    }

    /// Adds a named reader.
    /// - Parameter lag: the entries of its journals that it has not read, and the age of the oldest.
    package mutating func add(_ name: ReaderName, _ state: ReaderState, lag: ReaderLag) {
        let labels = [("reader", name.text)]
        text.add(.readerLagEntries, Int64(lag.entryCount), labels)
        text.add(.readerLag, lag.oldestUnixMilliseconds.map { max(0, unixMilliseconds - $0) } ?? 0, labels)
        text.add(.readerSeen, state.seenUnixMilliseconds, labels)
        text.add(.readerUnreadable, 0, labels)
    }

    /// Adds a named reader whose file cannot be read.
    package mutating func add(unreadable name: ReaderName) { text.add(.readerUnreadable, 1, [("reader", name.text)]) }

    /// The metrics in the text format of Prometheus, version 0.0.4.
    package var bytes: [UInt8] { text.bytes }
}
