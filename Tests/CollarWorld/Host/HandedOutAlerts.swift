import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire

/// The alerts that a reader was handed and its consumer has confirmed, and those that it must have: computed here in another way, from the
/// fixes themselves.
struct HandedOutAlerts {
    /// An alert of a fix, by its name.
    struct Key: Hashable, CustomStringConvertible {
        let sequence: UInt32
        let name: String

        var description: String { "\(name) of fix \(sequence)" }
    }

    /// The southern half of where fixes are: the border of the place crosses all of it at five degrees of latitude.
    static let watch: AlertWatch = {
        var rules = AlertRules()
        rules.silentMilliseconds = nil
        let corners = [(-5.0, -5.0), (5, -5), (5, 15), (-5, 15)].compactMap {
            Position(latitudeDegrees: $0.0, longitudeDegrees: $0.1)
        }
        let places = Area(rings: [corners]).map { [Place(name: "south", shape: .area($0))] } ?? []
        return AlertWatch(rules, places: PlaceTable(places), owner: nil)
    }()

    private(set) var confirmed: [LogKey: Set<Key>] = [:]
    /// Those that were handed out although older fixes were missing.
    private(set) var ahead: [LogKey: Set<Key>] = [:]
    /// The logs of which a fix was handed out after later ones: it had been given up.
    private(set) var disorderly: Set<LogKey> = []
    private var unconfirmed: [(key: LogKey, alert: Key)?] = []
    private var highest: [LogKey: UInt32] = [:]
    /// The sequences of the fixes that were handed out.
    private(set) var seen: [LogKey: Set<UInt32>] = [:]

    mutating func note(_ entry: EmittedEntry) {
        guard case .fix(let record) = entry.content else { return }
        let key = LogKey(deviceID: entry.deviceID, logID: record.logID)
        let sequence = record.fix.sequence
        guard seen[key, default: []].insert(sequence).inserted else { return }
        if let last = highest[key], sequence < last { disorderly.insert(key) }
        highest[key] = max(highest[key] ?? 0, sequence)
    }

    mutating func note(_ raised: RaisedAlert) { unconfirmed.append(HandedOutAlerts.keys(raised)) }

    mutating func noteAhead(_ raised: RaisedAlert) {
        if let (key, alert) = HandedOutAlerts.keys(raised) { ahead[key, default: []].insert(alert) }
    }

    mutating func confirmOldest() {
        guard !unconfirmed.isEmpty, let (key, alert) = unconfirmed.removeFirst() else { return }
        confirmed[key, default: []].insert(alert)
    }

    mutating func dropUnconfirmed() { unconfirmed.removeAll() }

    private static func keys(_ raised: RaisedAlert) -> (LogKey, Key)? {
        guard case .fix(let logID, let sequence) = raised.alert.cause else { return nil }
        return (LogKey(deviceID: raised.deviceID, logID: logID), Key(sequence: sequence, name: raised.alert.event.name))
    }

    /// The alerts of the fixes of a log, in their order.
    static func expected(_ fixes: [Fix]) -> [Key] {
        var alerts: [Key] = []
        var level = 0
        var isSouth: Bool?
        var clearFixes: [Fix] = []
        for (index, fix) in fixes.enumerated() {
            func add(_ name: String) { alerts.append(Key(sequence: fix.sequence, name: name)) }
            if index > 0, fixes[index - 1].unixMilliseconds > fix.unixMilliseconds + 60_000 {
                add("clock_changed")
                clearFixes = []
            }
            // A charge has a level, and a level above it that ends the former one.
            if let charge = fix.batteryPercent {
                let falls = charge <= 10 ? 2 : charge <= 20 ? 1 : 0
                let rises = charge <= 15 ? 2 : charge <= 25 ? 1 : 0
                let next = min(max(level, falls), rises)
                if next > level { add(next == 2 ? "battery_critical" : "battery_low") }
                level = next
            }
            // 37 steps are 41 m: four times 10 m, the accuracy of a fix that has none.
            let north = fix.latitudeSteps - 500_000
            guard let side = isSouth else {
                isSouth = north <= 0
                continue
            }
            clearFixes = (side ? north >= 37 : north <= -37) ? clearFixes + [fix] : []
            guard let first = clearFixes.first, fix.unixMilliseconds >= first.unixMilliseconds + 20_000 else { continue }
            add(side ? "left" : "entered")
            isSouth = !side
            clearFixes = []
        }
        return alerts
    }
}
