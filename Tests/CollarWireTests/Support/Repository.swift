import Foundation

/// The repository that holds this package.
enum Repository {
    struct NotFound: Error {}

    /// The nearest folder above `file` that holds `Protocol/PROTOCOL.md`.
    static func root(from file: String = #filePath) throws -> URL {
        var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("Protocol/PROTOCOL.md")
            if FileManager.default.fileExists(atPath: candidate.path) { return folder }
            folder = folder.deletingLastPathComponent()
        }
        throw NotFound()
    }
}
