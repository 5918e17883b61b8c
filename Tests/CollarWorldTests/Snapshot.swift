import FoundationEssentials
import Testing

/// The recorded tables in Tests/Snapshots.
enum Snapshot {
    /// Compares a table with the recorded one.
    /// - Parameter name: the name of the file without its ending, and of the option of Tools/simulate that makes the table.
    static func expect(_ measured: String, in name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let recorded = try String(contentsOf: root.appending(path: "Snapshots/\(name).txt"), encoding: .utf8)
        guard measured != recorded else { return }
        let old = recorded.split(separator: "\n", omittingEmptySubsequences: false)
        let new = measured.split(separator: "\n", omittingEmptySubsequences: false)
        var changes = ""
        for index in 0..<max(old.count, new.count) {
            let (was, now) = (index < old.count ? old[index] : "", index < new.count ? new[index] : "")
            if was != now { changes += "\n- \(was)\n+ \(now)" }
        }
        Issue.record(
            """
            What is measured is not what Tests/Snapshots/\(name).txt says:\(changes)
            If that is meant: Tools/simulate --\(name) >Tests/Snapshots/\(name).txt
            """)
    }
}
