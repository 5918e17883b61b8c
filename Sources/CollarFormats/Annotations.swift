import CollarTracking
import CollarWire

/// The animals and the places that a person has named, and the alerts that the person wants.
package struct Annotations: Equatable, Sendable {
    /// Which animal wears which collar.
    package var deployments = DeploymentTable()
    package var places = PlaceTable()
    package var alerts = AlertRules()

    package init() {}
}

/// The owner of the animals, to whom distances count.
package enum Owner: Equatable, Sendable {
    /// At the centre of the place ``PlaceTable/home``, if there is one.
    case home
    case at(Position)
    /// At the position that a source reports; nil while it reports none.
    case moving(OwnerSource, Position?)

    /// - Returns: nil if the owner is at home, and no place has that name, or if a source reports none.
    package func position(in places: PlaceTable) -> Position? {
        switch self {
        case .home: places.home?.circle.center
        case .at(let position): position
        case .moving(_, let position): position
        }
    }

    /// The source of the position, as lines name it: `home`, `given`, `gpsd` or `nmea`.
    package var source: String {
        switch self {
        case .home: PlaceTable.homeName
        case .at: "given"
        case .moving(let source, _): source.rawValue
        }
    }

    package var moves: Bool { if case .moving = self { true } else { false } }
}

/// The source of the position of an owner who moves.
package enum OwnerSource: String, Sendable {
    /// The daemon gpsd.
    case gpsd
    /// A GNSS receiver at a serial port.
    case nmea
}

/// Where a fix is, in relation to places and to the owner.
package struct Whereabouts: Equatable, Sendable {
    /// The name of the place; nil outside of all.
    var place: String?
    /// Whether the position of the fix is not the true one, but the centre of the place.
    package internal(set) var isPrivate = false
    /// From the owner.
    var distanceMeters: FixedPoint?
    /// From the owner, 0 … 359 degrees from true north; nil at the position of the owner.
    var bearingDegrees: FixedPoint?

    /// The place, and the distance in whole metres, for people; each only where it is known.
    /// - Parameter origin: the name of the place from which the distance counts.
    package func items(from origin: String = "the owner") -> [String] {
        var items: [String] = []
        if let place { items.append("at \(place.withEscapedControls)\(isPrivate ? " (private)" : "")") }
        if let distanceMeters {
            let direction = bearingDegrees.map { " at \($0.text)°" } ?? ""
            items.append("\((distanceMeters.value + 5) / 10) m\(direction) from \(origin)")
        }
        return items
    }
}

extension Sighting {
    /// A fix as it is shown: in a private place, without its position.
    package init(_ shown: ReceivedFix) {
        let fix = shown.fix
        self.init(
            position: Position(fix), accuracyMeters: fix.horizontalAccuracy.map { Double($0.millimeters) / 1000 },
            unixMilliseconds: fix.unixMilliseconds,
            isLate: shown.receivedUnixMilliseconds.map { $0 - fix.unixMilliseconds > DaySummary.lateAfterMilliseconds } ?? false,
            batteryPercent: fix.batteryPercent, place: shown.whereabouts?.place)
    }
}

/// Adds to fixes where they are, and hides positions in private places.
package struct WhereaboutsFinder {
    package var places: PlaceTable { didSet { origin = shownOwner?.position } }
    var owner: Owner? { didSet { origin = shownOwner?.position } }
    private let showsExactPositions: Bool
    private var origin: Position?

    package init(_ options: FormatOptions) {
        places = options.annotations.places
        owner = options.owner
        showsExactPositions = options.showsExactPositions
        origin = shownOwner?.position
    }

    private var shownOwner: OwnerLine? { owner.map { OwnerLine($0, in: places, showsExactPositions: showsExactPositions) } }

    /// A fix as it is shown.
    ///
    /// Complexity: linear in the corners of the places.
    package func located(_ received: ReceivedFix) -> ReceivedFix {
        if places.places.isEmpty, origin == nil { return received }
        var shown = received
        var whereabouts = Whereabouts()
        if let place = places.place(at: Position(received.fix)) {
            whereabouts.place = place.name
            if place.hidesPositions(unless: showsExactPositions) {
                whereabouts.isPrivate = true
                shown.fix.hide(in: place)
            }
        }
        if let origin {
            let way = Geodesic(from: origin, to: Position(shown.fix))
            whereabouts.distanceMeters = FixedPoint(Int64((way.lengthMeters * 10).rounded()), fractionDigits: 1)
            whereabouts.bearingDegrees = way.bearingDegrees.map { FixedPoint(Int64($0.rounded()) % 360) }
        }
        shown.whereabouts = whereabouts
        return shown
    }
}

extension Place {
    /// Whether lines show its centre in place of a position in it.
    func hidesPositions(unless showsExactPositions: Bool) -> Bool { isPrivate && !showsExactPositions }
}

extension Fix {
    /// Puts the position into the centre of a place, with its radius as accuracy. The motion becomes unknown, because a path can be
    /// computed from it.
    fileprivate mutating func hide(in place: Place) {
        let (center, radiusMeters) = place.circle
        let stepsPerDegree = Double(positionStep.stepsPerQuarterTurn) / 90
        latitudeSteps = Int32((center.latitudeDegrees * stepsPerDegree).rounded())
        longitudeSteps = Int32((center.longitudeDegrees * stepsPerDegree).rounded())
        horizontalAccuracy = AccuracyCode(nearestToMillimeters: UInt32(min(radiusMeters * 1000, 4e9)))
        (speedDecimetersPerSecond, course, heading) = (nil, nil, nil)
    }
}
