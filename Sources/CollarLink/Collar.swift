import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire

/// A collar, or all collars, of a receiver that stores on this machine.
///
///     let collar = Collar("Athena")
///     for try await fix in collar.fixes { print(fix.coordinate) }
///
/// `collar-link run` receives and stores; this value reads what it stores, and sends requests through it. The receiver may start later, end,
/// and start again. Making a value does nothing; errors come from the streams and requests.
public struct Collar: Sendable {
    /// The animal or the collar that was named; nil for all collars.
    public var name: String? { choice.name }

    /// Whether fixes in private places have their true positions. Otherwise they have the centre of the place, with its radius as accuracy,
    /// and neither speed nor course nor heading. Alerts are always computed from true positions.
    public var showsPrivatePositions: Bool {
        get { choice.showsPrivatePositions }
        set { choice.showsPrivatePositions = newValue }
    }

    var choice: CollarChoice
    let access: any ReceiverAccess

    /// Chooses a collar.
    /// - Parameters:
    ///   - name: the name of an animal (`collar-link name`), for each collar as long as the animal wears it; or the id of a collar, 16
    ///     hexadecimal digits. Nil for all collars of the receiver; a request then needs that there is only one.
    ///   - stateDirectory: the directory in which the receiver stores. Nil for that of this user, or else that of the service.
    public init(_ name: String? = nil, stateDirectory: String? = nil) {
        self.init(name, LocalAccess(givenDirectory: stateDirectory))
    }

    /// A collar of a session for tests.
    package init(_ name: String? = nil, _ access: any ReceiverAccess) {
        choice = CollarChoice(name: name)
        self.access = access
    }

    // MARK: Streams

    /// The fixes that arrive from now on; of more than 100 that wait, the newest 100.
    public var fixes: StoredStream<LocationFix> { fixes(.buffered()) }

    /// The fixes.
    /// - Parameter delivery: which of them, if the program is slower than the collar, and where the stream begins.
    public func fixes(_ delivery: FixDelivery) -> StoredStream<LocationFix> {
        var plan = StreamPlan(kinds: [.fix]) { item, context in
            guard case .entry(let entry, isWanted: true) = item, case .fix(let record) = entry.content else { return nil as LocationFix? }
            return context.fix(record, of: entry.deviceID)
        }
        switch delivery.kind {
        case .everything(let reader): plan.reader = reader
        case .buffered(let limit): (plan.flow, plan.begins) = (.newest(limit: limit), .now)
        case .latestOnly:
            (plan.flow, plan.begins) = (.newest(limit: 1), .newestFix)
            plan.element = { item, context in
                guard case .entry(let entry, isWanted: true) = item, case .fix(let record) = entry.content, context.isNewest(record)
                else { return nil }
                return context.fix(record, of: entry.deviceID)
            }
        }
        return stream(plan)
    }

    /// The gaps in the logs of the collars, and what becomes of them.
    /// - Parameter reader: the name under which the position is kept, as in ``FixDelivery/everything(as:)``. Without a name, the stream
    ///   begins with the oldest entry.
    public func gaps(as reader: String? = nil) -> StoredStream<FixGap> {
        var plan = StreamPlan(kinds: [.gap]) { item, _ in
            guard case .entry(let entry, isWanted: true) = item, case .gap(let change) = entry.content else { return nil as FixGap? }
            return FixGap(change, of: entry.deviceID)
        }
        plan.reader = reader
        return stream(plan)
    }

    /// The events of radios and collars, from now on; with a name, also those since the last run of the program.
    /// - Parameter reader: the name under which the position is kept, as in ``FixDelivery/everything(as:)``. Only the last megabyte of
    ///   events is stored.
    public func events(as reader: String? = nil) -> StoredStream<CollarEvent> { stream(eventPlan(reader: reader)) }

    /// The alerts: the animal leaves or enters a place or is far from its owner, its battery is low, its collar is silent.
    ///
    /// They come from the places file, as those of `collar-link follow --events alert`, and only from what is received after the first
    /// start. An alert comes at least once, always with the same id.
    /// - Parameter reader: the name under which the position and the state of the alerts are kept, as in ``FixDelivery/everything(as:)``.
    ///   Give one, so that an animal that leaves while the program does not run is not overlooked.
    public func alerts(as reader: String? = nil) -> StoredStream<PetAlert> {
        var plan = StreamPlan(kinds: [.alert]) { item, context in
            if case .alert(let raised) = item { context.alert(raised) } else { nil as PetAlert? }
        }
        plan.reader = reader
        return stream(plan)
    }

    func eventPlan(reader: String? = nil, begins: StreamPlan<CollarEvent>.Beginning = .now) -> StreamPlan<CollarEvent> {
        var plan = StreamPlan(kinds: LineKind.ofEvents) { item, _ in
            if case .event(let line, isWanted: true) = item { CollarEvent(line: line.bytes) } else { nil as CollarEvent? }
        }
        plan.reader = reader
        // A reader with a position goes on there.
        plan.begins = begins
        return plan
    }

    func stream<Element: Sendable>(_ plan: StreamPlan<Element>) -> StoredStream<Element> {
        StoredStream(StoredReading(plan, of: choice, access))
    }
}

/// The collars that a person has named.
struct CollarChoice: Sendable {
    /// The name of an animal, or the id of a collar; nil for all.
    let name: String?
    var showsPrivatePositions = false

    /// The collars, and the files that say which animal wears which.
    ///
    /// A places file that cannot be used is an error: positions would be shown that it hides.
    func selection(_ access: any ReceiverAccess) throws(UserFacingError) -> (files: AnnotationFiles, wanted: CollarSelection) {
        var files = AnnotationFiles(animals: access.animalPaths, places: access.placePaths)
        _ = files.refresh()
        if let fault = files.faults.first(where: { $0.code == .placesUnusable }), let error = UserFacingError(fault.message) { throw error }
        guard let name else { return (files, .all) }
        if let deviceID = CollarID.deviceID(name) { return (files, .collar(deviceID)) }
        let table = files.annotations.deployments
        guard !table.deployments(named: name).isEmpty else {
            if let fault = files.faults.first, let error = UserFacingError(fault.message) { throw error }
            throw UserFacingError(
                .unknownCollar, reason: "'\(name)' is neither an animal that wears or wore a collar, nor the id of a collar.",
                remedy: "Give the name of an animal, or all 16 digits of an id: `collar-link status` shows them.")
        }
        return (files, .animal(name: name, table))
    }

    /// The collar that a request is for; nil for the only one that the receiver knows.
    func requested(_ access: any ReceiverAccess) throws(UserFacingError) -> DeviceID? {
        let wanted = try selection(access).wanted
        guard case .animal(let name, let table) = wanted else { return wanted.deviceIDs?.first }
        let now = access.time.unixMilliseconds
        let worn = wanted.deviceIDs?.filter { table.wearer(of: $0, at: now)?.name == name } ?? []
        guard let first = worn.first, worn.count == 1 else {
            throw UserFacingError(
                .whichCollar, reason: "The animal '\(name)' wears \(worn.count == 0 ? "no collar" : "\(worn.count) collars") now.",
                remedy: "Name the collar by its id: `collar-link name` prints it.")
        }
        return first
    }
}

extension StreamContext {
    /// A fix as it is shown.
    mutating func fix(_ record: JournaledFix, of deviceID: DeviceID) -> LocationFix {
        newest[record.logID] = max(newest[record.logID] ?? 0, record.fix.sequence)
        let shown = finder.located(ReceivedFix(deviceID: deviceID, record))
        let id = FixIdentifier(deviceID: deviceID, logID: record.logID, sequence: record.fix.sequence)
        return LocationFix(id: id.uuid, fix: shown.fix)
    }

    /// Whether no later fix of the log was handed out.
    func isNewest(_ record: JournaledFix) -> Bool { newest[record.logID].map { $0 < record.fix.sequence } ?? true }
}
