import CheckedNumbers
import CollarFormats
import CollarTracking
import Glibc
import LinuxSystem

/// Why a file of GeoJSON is no area.
package enum AreaFileProblem: Error, Equatable, Sendable {
    case noGeometry
    case wrongPosition
    case openRing
    /// It surrounds a pole, or spans half of the Earth: so it has no inside.
    case tooWide
}

extension Area {
    /// The largest file that is read, in bytes.
    private static let byteLimit = 1 << 20

    /// Reads a file of GeoJSON.
    init(path: String) throws(PlaceFileError.Problem) {
        guard let bytes = SystemFiles.content(of: path, byteLimit: Area.byteLimit + 1) else {
            throw .unreadableArea(path: path, reason: SystemError.text(errno))
        }
        guard bytes.count <= Area.byteLimit else {
            throw .unreadableArea(path: path, reason: "it has more than \(Area.byteLimit) bytes")
        }
        try self.init(geoJSON: bytes, path: path)
    }

    /// Reads the content of a file of GeoJSON (RFC 7946): a geometry, a feature, or a collection of them. Geometries other than polygons
    /// are left out.
    package init(geoJSON bytes: [UInt8], path: String) throws(PlaceFileError.Problem) {
        let value: JSONValue
        do throws(JSONSyntaxError) { value = try JSONScanner.value(of: bytes) } catch { throw .noJSON(path: path, error) }
        do throws(AreaFileProblem) {
            guard let area = Area(polygons: try Area.polygons(of: value)) else { throw .noGeometry }
            self = area
        } catch { throw .noPolygons(path: path, error) }
    }

    /// The rings of all polygons, without their repeated last positions.
    private static func polygons(of value: JSONValue) throws(AreaFileProblem) -> [[[Position]]] {
        var polygons: [[[Position]]] = []
        switch value["type"]?.text {
        case "Feature": polygons = try value["geometry"].map { geometry throws(AreaFileProblem) in try Area.polygons(of: geometry) } ?? []
        case "FeatureCollection": for feature in value["features"]?.elements ?? [] { polygons += try Area.polygons(of: feature) }
        case "GeometryCollection": for geometry in value["geometries"]?.elements ?? [] { polygons += try Area.polygons(of: geometry) }
        case "Polygon": polygons = [try Area.rings(value["coordinates"])]
        case "MultiPolygon": for polygon in value["coordinates"]?.elements ?? [] { polygons.append(try Area.rings(polygon)) }
        default: break
        }
        return polygons.filter { !$0.isEmpty }
    }

    private static func rings(_ value: JSONValue?) throws(AreaFileProblem) -> [[Position]] {
        try (value?.elements ?? []).map { element throws(AreaFileProblem) in try Area.ring(element) }
    }

    private static func ring(_ value: JSONValue) throws(AreaFileProblem) -> [Position] {
        var positions: [Position] = []
        for element in value.elements ?? [] {
            guard let numbers = element.elements, numbers.count >= 2, let longitude = numbers[0].degrees(in: -180...180),
                let latitude = numbers[1].degrees(in: -90...90),
                let position = Position(latitudeDegrees: latitude, longitudeDegrees: longitude)
            else { throw .wrongPosition }
            positions.append(position)
        }
        guard positions.count >= 4, positions.removeLast() == positions[0] else { throw .openRing }
        guard Area.isNarrow(positions) else { throw .tooWide }
        return positions
    }
}

extension JSONValue {
    fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    fileprivate func degrees(in range: ClosedRange<Double>) -> Double? {
        if case .number(let digits) = self { Double(digits, in: range) } else { nil }
    }
}
