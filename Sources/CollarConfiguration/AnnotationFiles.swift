import CollarARQ
import CollarErrors
import CollarFormats
import CollarTracking
import LinuxSystem

/// The animals files and the places files, which are read again when they have changed.
package struct AnnotationFiles {
    private var animals: EditedFiles<AnimalRegister>
    private var places: EditedFiles<PlaceFile>
    /// When the files were looked at last; nil before the first time.
    private var lookedAt: Instant?
    /// Time between two looks, in microseconds, see ``refresh(at:)``.
    private static let interval: Int64 = 1_000_000
    /// Which animal wears which collar, and the places: by each file as it was when it could be used last. Where two files contradict each
    /// other, the first counts.
    package private(set) var annotations = Annotations()

    /// Names the files; nothing is read yet. A path overrides those after it.
    package init(animals: [String], places: [String] = []) {
        self.animals = EditedFiles(paths: animals)
        self.places = EditedFiles(paths: places)
    }

    /// The animals files with their animals, in the order in which they were named. A missing file has none.
    package var registers: [(path: String, register: AnimalRegister)] { animals.contents.map { ($0.path, $0.content) } }

    /// Why files cannot be used as they are now.
    package var faults: [EditedFileFault] { animals.faults + places.faults }

    /// Reads the files that have changed, at most once a second. A program calls this when it makes a line, so that nothing wakes up
    /// for it.
    /// - Returns: why changed files cannot be used; nil if no file has changed, or none was looked at.
    package mutating func refresh(at now: Instant) -> [EditedFileFault]? {
        if let lookedAt, now.microseconds(since: lookedAt) < AnnotationFiles.interval { return nil }
        lookedAt = now
        return refresh()
    }

    /// Reads the files that have changed since the last call.
    /// - Returns: why changed files cannot be used; nil if no file has changed.
    package mutating func refresh() -> [EditedFileFault]? {
        let changes = (animals.refresh(), places.refresh())
        if changes.0 != nil { annotations.deployments = DeploymentTable(animals.contents.flatMap(\.content.deployments)) }
        if changes.1 != nil {
            let files = places.contents.map(\.content.places)
            annotations.alerts = places.contents.lazy.compactMap(\.content.alerts).first ?? AlertRules()
            let names = Set(files.first?.map(\.name) ?? [])
            annotations.places = PlaceTable((files.first ?? []) + files.dropFirst().joined().filter { !names.contains($0.name) })
        }
        return changes == (nil, nil) ? nil : (changes.0 ?? []) + (changes.1 ?? [])
    }
}

extension AnimalRegister: EditedFile {
    static var code: ErrorCode { .animalsUnusable }

    var furtherPaths: [String] { [] }

    init(_ content: [UInt8], path: String) throws(EditedFileFault) {
        do throws(AnimalRegisterError) { try self.init(content) } catch { throw .animals(path: path, error) }
    }

    /// Reads an animals file. A missing one has no animals.
    package static func contents(of path: String) throws(EditedFileFault) -> AnimalRegister { try read(path) }
}

extension PlaceFile: EditedFile {
    static var code: ErrorCode { .placesUnusable }

    var furtherPaths: [String] { areaPaths }

    init(_ content: [UInt8], path: String) throws(EditedFileFault) {
        do throws(PlaceFileError) {
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            try self.init(content, folder: folder) { path throws(PlaceFileError.Problem) in try Area(path: path) }
        } catch { throw .places(path: path, error) }
    }

    /// Reads a places file. A missing one has no places.
    package static func contents(of path: String) throws(EditedFileFault) -> PlaceFile { try read(path) }
}
