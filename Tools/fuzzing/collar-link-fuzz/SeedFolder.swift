import Foundation
import FuzzCore

/// The seeds from which mutations start: those of the project's vectors, and those of a folder that the user names.
struct SeedFolder {
    /// The checkout.
    let root: String
    /// A folder with more vectors or findings (*.json), and with raw inputs in folders named like their targets; nil for none.
    let corpus: String?

    /// The seeds of a target, in an order that depends only on the names of the files.
    func seeds(for target: any FuzzTarget) throws -> [[UInt8]] {
        var vectors: [SeedVector] = []
        let ours = ["valid", "invalid", "session"].map { "\(root)/Protocol/vectors/\($0)" }
        for folder in ours + (corpus.map { [$0] } ?? []) {
            for name in try SeedFolder.files(in: folder) where name.hasSuffix(".json") {
                vectors += try VectorFile(path: "\(folder)/\(name)").seedVectors
            }
        }
        var seeds = vectors.flatMap { target.seeds(from: $0) }
        if let corpus, FileManager.default.fileExists(atPath: "\(corpus)/\(target.name)") {
            for name in try SeedFolder.files(in: "\(corpus)/\(target.name)") {
                seeds.append([UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(corpus)/\(target.name)/\(name)"))))
            }
        }
        return seeds.filter { $0.count >= target.contextByteCount }
    }

    private static func files(in folder: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        } catch {
            throw UnusableFile(path: folder, reason: "the folder cannot be read")
        }
    }
}
