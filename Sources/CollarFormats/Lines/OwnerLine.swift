import CollarTracking

/// Where the owner is, as lines show it: in a private place, at its centre.
package struct OwnerLine: Equatable, Sendable {
    private let source: String
    /// Nil if it is unknown.
    let position: Position?
    private let place: String?
    private let isPrivate: Bool

    package init(_ owner: Owner, in places: PlaceTable, showsExactPositions: Bool = false) {
        let position = owner.position(in: places)
        let place = position.flatMap { places.place(at: $0) }
        source = owner.source
        isPrivate = place?.hidesPositions(unless: showsExactPositions) ?? false
        self.place = place?.name
        self.position = isPrivate ? place?.circle.center : position
    }

    /// The line of JSON, with its line feed; `Protocol/schema/owner.schema.json` describes it.
    /// - Parameter unixMilliseconds: since when the owner is there, in milliseconds since 1970.
    package func json(at unixMilliseconds: Int64) -> [UInt8] {
        var object = JSONLine(type: LineKind.owner.rawValue, unixMilliseconds: unixMilliseconds)
        object.add("source", source)
        if let position {
            var coordinate = JSONLine()
            for (key, degrees) in [("latitude", position.latitudeDegrees), ("longitude", position.longitudeDegrees)] {
                coordinate.add(key, number: FixedPoint(Int64((degrees * 1e6).rounded()), fractionDigits: 6).text)
            }
            object.add("coordinate", coordinate)
        }
        if let place { object.add("place", place) }
        if isPrivate { object.add("private", true) }
        return object.line
    }
}
