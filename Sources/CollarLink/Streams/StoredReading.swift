import CollarARQ
import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarReaders
import CollarWire
import LinuxSystem
import Synchronization

/// The items that a stream reads, and the function that makes its elements.
struct StreamPlan<Element: Sendable>: Sendable {
    enum Flow: Equatable, Sendable {
        /// Each element, one after the other.
        case all
        /// The newest elements that wait, at most this number.
        case newest(limit: Int)
    }

    var kinds: Set<LineKind>
    var flow = Flow.all
    /// The name under which the position is kept; nil for none.
    var reader: String?
    var begins = Beginning.oldest
    /// The first element, if nothing that is stored makes one; nil to wait for one.
    var initial: Element?
    /// When the stream ends, after what is stored then; nil for never.
    var ends: Instant?
    /// The element of an item; nil if the item makes none.
    var element: @Sendable (StoredItem, inout StreamContext) -> Element?

    enum Beginning: Equatable, Sendable {
        case oldest, now
        /// At what was received at this time or later, in milliseconds since 1970.
        case since(Int64)
        /// At the newest fix that is stored.
        case newestFix
        /// In the journals now, and in the event log at the oldest event.
        case allEvents
    }
}

/// The files of animals and places, as the last item found them.
struct StreamContext {
    var finder: WhereaboutsFinder
    var annotations: Annotations
    /// The newest fix of each log that was handed out.
    var newest: [LogID: UInt32] = [:]
    var links = LinkHistory()
}

/// Reads what a receiver stores, for one ``StoredStream``.
actor StoredReading<Element: Sendable> {
    /// Time between a change of the position and its storing, in microseconds.
    private static var storeInterval: Int64 { 1_000_000 }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe IOThread.shared.asUnownedSerialExecutor() }

    private let access: any ReceiverAccess
    private let collar: CollarChoice
    private let plan: StreamPlan<Element>
    private let iterations = Mutex(0)
    private var reader: OpenReader?
    private var context: StreamContext
    /// The iteration that has asked last.
    private var iteration = 0
    /// The element that was handed out last, until the next one is asked for.
    private var handedOut: (element: Element, receipt: StoredReceipt?)?
    /// The elements that wait, oldest first; in the flow of all there is never more than one.
    private var waiting: ArraySlice<(element: Element, receipt: StoredReceipt?)> = []
    /// The first element that is handed out if nothing waits; nil once there was an element.
    private var initial: Element?
    /// When to store the position; nil if it is stored.
    private var storeDue: Instant?

    init(_ plan: StreamPlan<Element>, of collar: CollarChoice, _ access: any ReceiverAccess) {
        self.access = access
        self.collar = collar
        self.plan = plan
        initial = plan.initial
        var options = FormatOptions()
        options.showsExactPositions = collar.showsPrivatePositions
        context = StreamContext(finder: WhereaboutsFinder(options), annotations: options.annotations)
    }

    nonisolated func beginIteration() -> Int {
        iterations.withLock { number in
            number += 1
            return number
        }
    }

    func next(inIteration number: Int) async throws(UserFacingError) -> Element? {
        if number == iteration {
            confirm()
        } else if number == iterations.withLock({ $0 }) {
            iteration = number
            reader?.isRetryDue = true
            // The last iteration has ended before it was done with its last element.
            if let handedOut { return handedOut.element }
        }
        while true {
            guard number == iterations.withLock({ $0 }) else { return nil }
            if Task.isCancelled { return end() }
            if let element = try takeNext() { return element }
            if let ends = plan.ends, access.time.instant >= ends { return end() }
            let reader = try open()
            let due = Instant.earliest(Instant.earliest(reader.entries.nextDeadline(at: access.time), storeDue), plan.ends)
            if case .over = await access.wait(for: [reader.entries.fileDescriptor], until: due) {
                return try takeNext() ?? end()
            }
        }
    }

    /// Ends an iteration without an error. Another program may take the name of the reader then; without a name, the files stay open,
    /// because nothing else holds the position.
    private func end() -> Element? {
        storePosition()
        if plan.reader != nil { reader = nil }
        return nil
    }

    /// The collars of the stream, as the animals file now says.
    func wanted() throws(UserFacingError) -> CollarSelection { try collar.selection(access).wanted }

    private func takeNext() throws(UserFacingError) -> Element? {
        let reader = try open()
        let time = access.time
        do throws(ReaderError) {
            try reader.entries.handleChanges()
            reader.entries.deadlineReached(at: time.instant)
            if reader.isRetryDue { try reader.entries.retry(at: time.instant) }
        } catch { throw UserFacingError(reading: error) }
        reader.isRetryDue = false
        if let storeDue, time.instant >= storeDue { storePosition() }
        fill(from: reader, at: time)
        guard let first = waiting.popFirst() ?? initial.map({ ($0, nil) }) else {
            if let failure = reader.entries.failure { throw UserFacingError(reading: .journal(failure)) }
            return nil
        }
        initial = nil
        handedOut = first
        return first.element
    }

    /// Takes items from the journals: the next one that makes an element, or all that are there.
    private func fill(from reader: OpenReader, at time: HostTime) {
        while waiting.isEmpty || plan.flow != .all, let item = reader.entries.next(at: time) {
            if let annotations = reader.entries.changedAnnotations(at: time.instant) { use(annotations) }
            let receipt = StoredReceipt(item)
            guard let element = plan.element(item, &context) else {
                reader.entries.confirm(receipt)
                noteUnstored()
                continue
            }
            guard case .newest(let limit) = plan.flow else {
                waiting.append((element, receipt))
                continue
            }
            // The position of this flow is kept nowhere.
            reader.entries.confirm(receipt)
            waiting.append((element, nil))
            if waiting.count > limit { waiting.removeFirst() }
        }
    }

    private func use(_ annotations: Annotations) {
        context.annotations = annotations
        context.finder.places = annotations.places
    }

    private func confirm() {
        guard let handedOut else { return }
        if let receipt = handedOut.receipt, let reader {
            reader.entries.confirm(receipt)
            noteUnstored()
        }
        self.handedOut = nil
    }

    // MARK: Opening and storing

    private func noteUnstored() {
        guard plan.reader != nil else { return }
        storeDue = storeDue ?? access.time.instant.advanced(byMicroseconds: Self.storeInterval)
    }

    private func storePosition() {
        reader?.storePosition(at: access.time)
        storeDue = nil
    }

    private func open() throws(UserFacingError) -> OpenReader {
        if let reader { return reader }
        let (files, wanted) = try collar.selection(access)
        use(files.annotations)
        var configuration = ReadingConfiguration(stateDirectory: try access.stateDirectory())
        configuration.animalPaths = access.animalPaths
        configuration.placePaths = access.placePaths
        configuration.wanted = wanted
        configuration.read(plan.kinds)
        configuration.readsAllEvents = plan.begins == .allEvents
        switch plan.begins {
        case .oldest: break
        case .now, .allEvents: configuration.start = .since(unixMilliseconds: access.time.unixMilliseconds)
        case .since(let time): configuration.start = .since(unixMilliseconds: time)
        case .newestFix: configuration.start = try receptionOfNewestFix(wanted).map { .since(unixMilliseconds: $0) }
        }
        if let text = plan.reader {
            guard let name = ReaderName(text) else {
                throw UserFacingError(.badRequest, reason: "'\(text)' is not the name of a reader: a name is \(ReaderName.form).")
            }
            configuration.name = name
        }
        do throws(ReaderError) {
            let new = OpenReader(try StoredEntries(configuration) { _ in })
            reader = new
            return new
        } catch { throw UserFacingError(reading: error) }
    }
}

/// Open files of a state directory. Its end stores the position of a named reader, and gives its name free at once.
private final class OpenReader {
    let entries: StoredEntries
    /// Whether journals that could not be read are tried again now.
    var isRetryDue = false

    init(_ entries: StoredEntries) { self.entries = entries }

    deinit { storePosition(at: .now) }

    /// A failure is no harm: elements come again. The next storing tries again.
    func storePosition(at time: HostTime) { _ = try? entries.storePosition(at: time) }
}

extension StoredReading {
    /// When the newest fix of a collar was received; of several collars, the earliest such time. Nil if nothing is stored.
    private func receptionOfNewestFix(_ wanted: CollarSelection) throws(UserFacingError) -> Int64? {
        let directory = try access.stateDirectory()
        do throws(JournalError) {
            var earliest: Int64?
            for deviceID in try JournalDirectory.knownCollars(stateDirectory: directory)
            where wanted.deviceIDs?.contains(deviceID) ?? true {
                let reader = try JournalReader(stateDirectory: directory, deviceID: deviceID)
                guard let newest = try reader.summary(examining: { _ in }).newest else { continue }
                earliest = min(earliest ?? .max, newest.receivedUnixMilliseconds)
            }
            return earliest
        } catch { throw UserFacingError(reading: .journal(error)) }
    }
}

extension StoredReceipt {
    init(_ item: StoredItem) {
        self =
            switch item {
            case .entry(let entry, _): .entry(entry.receipt, hasID: false)
            case .event(let line, _): .event(line.end)
            case .alert(let alert): .alert(alert.id)
            case .owner: .owner
            }
    }
}

extension UserFacingError {
    init(reading error: ReaderError) {
        let message = error.message
        let code = message.code ?? .unknown
        // A remedy for the command line names an option.
        let remedy = code == .noReceiver ? "Start `collar-link run`, or name its directory: `Collar(stateDirectory:)`." : message.remedy
        self.init(code, reason: message.reason, remedy: remedy)
    }
}
