import Glibc

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
    /// The greatest distance from the border inside, in metres.
    let depthMeters: Double
    /// Nil for the circle around an owner whose position is unknown.
    private let place: Place?
    /// Fixes that were made before are not judged, in milliseconds since 1970.
    private let earliestUnixMilliseconds: Int64

    init(_ subject: Subject, _ place: Place) {
        self.init(subject, place, depthMeters: place.depthMeters, shapeKey: place.shapeFingerprint, earliest: .min)
    }

    /// The circle around an owner who moves, which stays the same border wherever the owner is.
    init(around owner: Position?, since unixMilliseconds: Int64, limitMeters: Double) {
        var shape = Fingerprint()
        shape.add("moving")
        shape.add(limitMeters)
        self.init(
            .owner(limitMeters: limitMeters), owner.map { Place(name: "", shape: .circle(center: $0, radiusMeters: limitMeters)) },
            depthMeters: limitMeters, shapeKey: shape.words().high,
            earliest: unixMilliseconds - DaySummary.lateAfterMilliseconds)
    }

    private init(_ subject: Subject, _ place: Place?, depthMeters: Double, shapeKey: UInt64, earliest: Int64) {
        self.subject = subject
        self.place = place
        self.depthMeters = depthMeters
        self.shapeKey = shapeKey
        earliestUnixMilliseconds = earliest
        var name = Fingerprint()
        switch subject {
        case .place(let text): name.add(text)
        case .owner: name.add(UInt64.max)
        }
        key = name.words().high
    }

    /// From the border to the position of a fix, in metres: negative inside. Nil if it is not known where the border was then.
    func distanceMeters(from position: Position, at unixMilliseconds: Int64) -> Double? {
        unixMilliseconds < earliestUnixMilliseconds ? nil : place?.distanceMeters(from: position)
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
    /// The greatest distance from the border inside, in metres; of an area it is a lower bound.
    var depthMeters: Double {
        switch shape {
        case .circle(_, let radius): return radius
        case .area(let area):
            let (center, radius) = area.surroundingCircle
            let latitudes = radius / 111_000
            let longitudes = latitudes / max(cos(center.latitudeDegrees * .degree), 0.01)
            var depth = 0.0
            for row in -8...8 {
                for column in -8...8 {
                    let point = Position(
                        latitude: min(max(center.latitudeDegrees + latitudes * Double(row) / 8, -90), 90),
                        longitude: (center.longitudeDegrees + longitudes * Double(column) / 8).remainder(dividingBy: 360))
                    depth = max(depth, -area.distanceMeters(from: point))
                }
            }
            return depth
        }
    }

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
            for ring in area.rings {
                hash.add(UInt64(ring.points.count))
                for point in ring.points { add(point) }
            }
        }
        return hash.words().high
    }
}
