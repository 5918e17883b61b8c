/// A border whose crossings are alerts.
package struct WatchedBorder: Equatable, Sendable {
    package enum Subject: Equatable, Sendable {
        case place(String)
        /// The circle around the owner; the radius is in metres.
        case owner(limitMeters: Double)
    }

    let subject: Subject
    /// Which border this is, and which shape it has, as files name them.
    let key: UInt64
    let shapeKey: UInt64
    /// See ``Place/depthsMeters``.
    private let depthsMeters: [Double]
    /// Nil for the circle around an owner whose position is unknown.
    private let place: Place?
    /// Fixes that were made before are not judged, in milliseconds since 1970.
    private let earliestUnixMilliseconds: Int64

    init(_ subject: Subject, _ place: Place) {
        self.init(subject, place, depthsMeters: place.depthsMeters, shapeKey: place.shapeFingerprint, earliest: .min)
    }

    /// The circle around an owner who moves, which stays the same border wherever the owner is.
    init(around owner: Position?, since unixMilliseconds: Int64, limitMeters: Double) {
        var shape = Fingerprint()
        shape.add("moving")
        shape.add(limitMeters)
        self.init(
            .owner(limitMeters: limitMeters), owner.map { Place(name: "", shape: .circle(center: $0, radiusMeters: limitMeters)) },
            depthsMeters: [limitMeters], shapeKey: shape.words().high,
            earliest: unixMilliseconds - DaySummary.lateAfterMilliseconds)
    }

    private init(_ subject: Subject, _ place: Place?, depthsMeters: [Double], shapeKey: UInt64, earliest: Int64) {
        self.subject = subject
        self.place = place
        self.depthsMeters = depthsMeters
        self.shapeKey = shapeKey
        earliestUnixMilliseconds = earliest
        var name = Fingerprint()
        switch subject {
        case .place(let text): name.add(text)
        case .owner: name.add(UInt64.max)
        }
        key = name.words().high
    }

    /// From the border to the position of a fix, in metres: negative inside. `depthMeters` is how far the innermost point behind that border
    /// is from it. Nil if it is not known where the border was then.
    func border(from position: Position, at unixMilliseconds: Int64) -> (distanceMeters: Double, depthMeters: Double)? {
        guard unixMilliseconds >= earliestUnixMilliseconds, let (distance, part) = place?.border(from: position) else { return nil }
        return (distance, depthsMeters[part])
    }
}

/// The watched borders, those of all places and of the circle around the owner, and the limits.
package struct AlertWatch: Equatable, Sendable {
    package let rules: AlertRules
    let borders: [WatchedBorder]

    /// - Parameters:
    ///   - owner: where the owner is; nil if that is unknown.
    ///   - ownerSince: since when an owner who moves is there, in milliseconds since 1970: fixes that were made more than a minute before
    ///     are not judged. Nil for an owner who does not move.
    package init(_ rules: AlertRules, places: PlaceTable, owner: Position?, ownerSince: Int64? = nil) {
        self.rules = rules
        var borders = places.places.map { WatchedBorder(.place($0.name), $0) }
        if let ownerSince, let limit = rules.fartherMeters {
            borders.append(WatchedBorder(around: owner, since: ownerSince, limitMeters: limit))
        } else if let owner, let limit = rules.fartherMeters {
            borders.append(
                WatchedBorder(.owner(limitMeters: limit), Place(name: "", shape: .circle(center: owner, radiusMeters: limit))))
        }
        self.borders = borders
    }
}

extension Place {
    fileprivate var shapeFingerprint: UInt64 {
        var hash = Fingerprint()
        func add(_ position: Position) {
            hash.add(position.latitudeDegrees)
            hash.add(position.longitudeDegrees)
        }
        switch shape {
        case .circle(let center, let radius):
            add(center)
            hash.add(radius)
        case .area(let area):
            for polygon in area.parts.joined() {
                hash.add(UInt64(polygon.edges.count))
                for edge in polygon.edges { add(edge.start) }
            }
        }
        return hash.words().high
    }
}
