import CollarWire

/// A place on the Earth (WGS 84).
package struct Position: Equatable, Sendable {
    /// −90 … 90, north is positive.
    package let latitudeDegrees: Double
    /// −180 … 180, east is positive.
    package let longitudeDegrees: Double

    /// - Returns: nil for coordinates out of range.
    package init?(latitudeDegrees: Double, longitudeDegrees: Double) {
        guard (-90...90).contains(latitudeDegrees), (-180...180).contains(longitudeDegrees) else { return nil }
        self.init(latitude: latitudeDegrees, longitude: longitudeDegrees)
    }

    /// - Precondition: the fix is valid (`Fix.validate()`).
    package init(_ fix: Fix) {
        let stepsPerDegree = Double(fix.positionStep.stepsPerQuarterTurn) / 90
        self.init(latitude: Double(fix.latitudeSteps) / stepsPerDegree, longitude: Double(fix.longitudeSteps) / stepsPerDegree)
    }

    init(latitude: Double, longitude: Double) {
        latitudeDegrees = latitude
        longitudeDegrees = longitude
    }
}
