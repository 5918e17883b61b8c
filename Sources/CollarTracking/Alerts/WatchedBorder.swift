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
    private let place: Place

    init(_ subject: Subject, _ place: Place) {
        self.subject = subject
        self.place = place
        depthMeters = place.depthMeters
        var name = Fingerprint()
        switch subject {
        case .place(let text): name.add(text)
        case .owner: name.add(UInt64.max)
        }
        key = name.words().high
        shapeKey = place.shapeFingerprint
    }

    /// From the border to a position, in metres: negative inside.
    func distanceMeters(from position: Position) -> Double { place.distanceMeters(from: position) }
}

/// The watched borders, those of all places and of the circle around the owner, and the limits.
package struct AlertWatch: Equatable, Sendable {
    package let rules: AlertRules
    let borders: [WatchedBorder]

    /// - Parameter owner: where the owner is; nil if that is unknown.
    package init(_ rules: AlertRules, places: PlaceTable, owner: Position?) {
        self.rules = rules
        var borders = places.places.map { WatchedBorder(.place($0.name), $0) }
        if let owner, let limit = rules.fartherMeters {
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
