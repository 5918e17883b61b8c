import CollarFormats
import CollarTracking
import CollarWire
import FoundationEssentials

/// An event that an owner wants to be told of, such as an animal that leaves home.
public struct PetAlert: Equatable, Sendable, Identifiable {
    /// What happened.
    public enum Kind: Equatable, Sendable {
        /// The animal has crossed the border of a place; `since` is the time of the first fix across it.
        case left(place: String, since: Date), entered(place: String, since: Date)
        /// The animal is farther from its owner than the limit, or no longer.
        case far(limitMeters: Double, since: Date), near(limitMeters: Double, since: Date)
        /// The charge, 0 … 1, is 20 % or less, or 10 % or less.
        case batteryLow(fraction: Double), batteryCritical(fraction: Double)
        /// Nothing was received from the collar since this time; or it is received again.
        case silent(since: Date), heard(since: Date)
        /// Five fixes in a row have accuracies above 50 m.
        case poorFixes(accuracyMeters: Double)
        /// The collar is heard, and sends no fix.
        case noFix
        /// The GNSS receiver of the collar has a fault.
        case gnssFault
        /// The collar has restarted.
        case restarted
        /// A place has another border than before: the animal is on this side of it now.
        case placeChanged(place: String, isInside: Bool)
        /// The owner or the limit of the distance is another one than before.
        case ownerMoved(isFar: Bool)
        /// A clock went back by this time, in seconds.
        case clockChanged(seconds: Double)
    }

    /// The same each time that the alert comes.
    public let id: UUID
    /// What happened.
    public let kind: Kind
    /// A sentence for a person, such as "Athena left home".
    public let text: String
    /// When it happened: for a fix, when the collar made it.
    public let date: Date
    /// Whether it comes from a fix that was received more than a minute after it was made.
    public let isLate: Bool
    /// Whether it happened in the quiet hours of the places file.
    public let isQuiet: Bool
    /// The id of the collar, 16 hexadecimal digits.
    public let collarID: String
    /// The animal that wore the collar; nil if none is known to.
    public let animal: String?
    /// The fix that has caused it, as it is shown; nil for any other cause.
    public let fix: LocationFix?
}

extension StreamContext {
    mutating func alert(_ raised: RaisedAlert) -> PetAlert {
        let time = raised.alert.unixMilliseconds
        let animal = annotations.deployments.wearer(of: raised.deviceID, at: time)?.name
        let line = AlertLine(
            raised, name: animal, shown: raised.fix.map { finder.located(ReceivedFix(deviceID: raised.deviceID, $0)) }, owner: .home,
            quietHours: annotations.alerts.quietHours, zone: .local)
        return PetAlert(
            id: UUID(UUIDHalves(high: raised.id.high, low: raised.id.low)), kind: PetAlert.Kind(raised.alert.event), text: line.text,
            date: Date(unixMilliseconds: time), isLate: raised.alert.isLate, isQuiet: line.isQuiet,
            collarID: raised.deviceID.description, animal: animal, fix: raised.fix.map { fix($0, of: raised.deviceID) })
    }
}

extension PetAlert.Kind {
    init(_ event: Alert.Event) {
        func date(_ unixMilliseconds: Int64) -> Date { Date(unixMilliseconds: unixMilliseconds) }
        self =
            switch event {
            case .left(let place, let since): .left(place: place, since: date(since))
            case .entered(let place, let since): .entered(place: place, since: date(since))
            case .far(let limit, let since): .far(limitMeters: limit, since: date(since))
            case .near(let limit, let since): .near(limitMeters: limit, since: date(since))
            case .batteryLow(let percent): .batteryLow(fraction: Double(percent) / 100)
            case .batteryCritical(let percent): .batteryCritical(fraction: Double(percent) / 100)
            case .silent(let since): .silent(since: date(since))
            case .heard(let since): .heard(since: date(since))
            case .poorFixes(let accuracy): .poorFixes(accuracyMeters: accuracy)
            case .noFix: .noFix
            case .gnssFault: .gnssFault
            case .restarted: .restarted
            case .placeChanged(let place, let isInside): .placeChanged(place: place, isInside: isInside)
            case .ownerMoved(let isFar): .ownerMoved(isFar: isFar)
            case .clockChanged(let milliseconds): .clockChanged(seconds: Double(milliseconds) / 1000)
            }
    }
}
