/// A place with a name, in which an animal can be.
package struct Place: Equatable, Sendable {
    package enum Shape: Equatable, Sendable {
        /// The radius is in metres, and greater than 0.
        case circle(center: Position, radiusMeters: Double)
        case area(Area)
    }

    package let name: String
    package let shape: Shape
    /// Whether positions in it are not shown.
    package let isPrivate: Bool

    package init(name: String, shape: Shape, isPrivate: Bool = false) {
        self.name = name
        self.shape = shape
        self.isPrivate = isPrivate
    }

    /// The distance of a position to the border in metres: negative inside.
    package func distanceMeters(from position: Position) -> Double { border(from: position).distanceMeters }

    /// The distance of a position to the border in metres, negative inside, and the part of the place to which that border belongs.
    func border(from position: Position) -> (distanceMeters: Double, part: Int) {
        switch shape {
        case .circle(let center, let radius): (Geodesic(from: center, to: position).lengthMeters - radius, 0)
        case .area(let area): area.border(from: position)
        }
    }

    /// For each part, how far the innermost point is from the border, in metres; of an area it is a lower bound.
    var depthsMeters: [Double] {
        switch shape {
        case .circle(_, let radius): [radius]
        case .area(let area): area.depthsMeters
        }
    }

    /// What stands for a position in a private place.
    package var circle: (center: Position, radiusMeters: Double) {
        switch shape {
        case .circle(let center, let radius): (center, radius)
        case .area(let area): area.surroundingCircle
        }
    }
}

/// The places that a person has named. Where places overlap, a private one counts; if none is private, the first.
package struct PlaceTable: Equatable, Sendable {
    /// The name of the place from which distances count where nothing else is given.
    package static let homeName = "home"

    package let places: [Place]

    package init(_ places: [Place] = []) { self.places = places }

    package var home: Place? { places.first { $0.name == PlaceTable.homeName } }

    /// The place at a position; nil outside of all.
    ///
    /// Complexity: linear in the corners of the places.
    package func place(at position: Position) -> Place? {
        var found: Place?
        for place in places where (found == nil || place.isPrivate) && place.distanceMeters(from: position) <= 0 {
            if place.isPrivate { return place }
            found = place
        }
        return found
    }
}
