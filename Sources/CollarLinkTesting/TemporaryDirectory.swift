import CollarErrors
import CollarLink
import FoundationEssentials

/// The state directory of a test session, which is removed with the session.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws(UserFacingError) {
        path = FileManager.default.temporaryDirectory.appending(path: "collar-link-test-\(UUID())").path
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
            throw UserFacingError(.stateUnusable, reason: "The directory \(path) cannot be made: \(error).")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
