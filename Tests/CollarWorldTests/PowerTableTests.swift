import CollarWorld
import Foundation
import Testing

/// The tables of power are those that the program computes.
@Suite struct PowerTableTests {
    private func text(_ path: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        return try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }

    /// `Tools/check tables` compares the others, too.
    @Test func theSnapshotBeginsWithTheSchedules() throws {
        let computed = try TrialTables.schedules()
        #expect(try text("Tests/Snapshots/power.txt").hasPrefix(computed))
    }

    @Test func theHardwareShowsTheSnapshot() throws {
        let snapshot = try text("Tests/Snapshots/power.txt")
        #expect(try text("hardware/power/README.md").contains("```\n" + snapshot + "```\n"))
    }
}
