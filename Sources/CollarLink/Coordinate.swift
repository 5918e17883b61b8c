extension LocationFix {
    /// A position on the WGS 84 ellipsoid, in degrees.
    public struct Coordinate: Codable, Equatable, Hashable, Sendable {
        /// Degrees north of the equator, −90 … 90.
        public let latitude: Double
        /// Degrees east of Greenwich, −180 … 180; −180 and 180 are different values.
        public let longitude: Double

        /// Creates a coordinate. Nothing is checked here; see ``isValid``.
        public init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }

        /// Whether both angles are within their ranges; false for NaN.
        public var isValid: Bool {
            // A comparison with NaN is false, so NaN is refused too.
            latitude.magnitude <= 90 && longitude.magnitude <= 180
        }
    }
}
