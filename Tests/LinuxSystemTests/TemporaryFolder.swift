import Foundation
import Glibc
import LinuxSystem

/// A folder of a test; it is removed when it is released.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "linux-system-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in place: one that exists keeps its inode.
    @discardableResult func write(_ text: String, to name: String) -> String {
        let place = "\(path)/\(name)"
        let descriptor = unsafe open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return place }
        _ = SystemFiles.write(Array(text.utf8), to: descriptor)
        close(descriptor)
        return place
    }
}
