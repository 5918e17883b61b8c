import CollarARQ
import CollarFormats
import CollarJournal
import FoundationEssentials
import Testing

@testable import CollarConfiguration

/// Two animals files with deployments from and until a time, which change, go and come back.
@Suite final class SeveralAnimalFilesTests {
    private let folder = "/tmp/collar-link-animals-\(UUID().uuidString)"
    private static let day: Int64 = 86_400_000

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private func write(_ text: String, to name: String) throws {
        try #require(FileManager.default.createFile(atPath: path(name), contents: Data(text.utf8)))
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    private var files: AnnotationFiles { AnnotationFiles(animals: [path("user"), path("machine")]) }

    private func time(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    /// The wearers of a collar on the first days of 1970.
    private func wearers(_ files: AnnotationFiles, of collar: Int = 1, days: Range<Int64>) -> [String?] {
        days.map { files.annotations.deployments.wearer(of: collar == 1 ? 1 : 2, at: $0 * SeveralAnimalFilesTests.day)?.name }
    }

    @Test func deploymentsOfTwoFilesFollowEachOther() throws {
        try write("[animal A]\nwears = 0000000000000001 from 1970-01-02 until 1970-01-03", to: "user")
        try write(
            "[animal B]\nwears = 0000000000000001 until 1970-01-02\n[animal C]\nwears = 0000000000000001 from 1970-01-04 until 1970-01-05\n"
                + "wears = 0000000000000002", to: "machine")
        var files = files
        #expect(files.refresh() == [])
        #expect(wearers(files, days: 0..<5) == ["B", "A", nil, "C", nil])
        #expect(wearers(files, of: 2, days: 0..<2) == ["C", "C"])
        // The machine's file says something else about the same days.
        try write("[animal B]\nwears = 0000000000000001", to: "machine")
        #expect(files.refresh() == [])
        #expect(wearers(files, days: 0..<4) == ["B", "A", "B", "B"])
        #expect(files.registers.map(\.path) == [path("user"), path("machine")])
        #expect(files.registers.map { $0.register.animals.map(\.name) } == [["A"], ["B"]])
    }

    @Test func eachFileHasAFaultOfItsOwn() throws {
        try write("[animal A]\nwears = 0000000000000001", to: "user")
        try write("[animal B]\nwears = 0000000000000002", to: "machine")
        var files = files
        #expect(files.refresh() == [])
        let user = EditedFileFault.animals(path: path("user"), AnimalRegisterError(.notAnAssignment("x"), line: 1))
        let machine = EditedFileFault.animals(path: path("machine"), AnimalRegisterError(.unknownSection("[y]"), line: 1))
        try write("x", to: "user")
        #expect(files.refresh() == [user])
        try write("[y]", to: "machine")
        // Only the fault of the file that has changed is told again.
        #expect(files.refresh() == [machine])
        #expect(files.faults == [user, machine])
        #expect(wearers(files, days: 0..<1) == ["A"] && wearers(files, of: 2, days: 0..<1) == ["B"])
        try write("[animal C]\nwears = 0000000000000001", to: "user")
        #expect(files.refresh() == [])
        #expect(files.faults == [machine])
        #expect(wearers(files, days: 0..<1) == ["C"] && wearers(files, of: 2, days: 0..<1) == ["B"])
        try remove("machine")
        #expect(files.refresh() == [])
        #expect(files.faults == [])
        #expect(wearers(files, of: 2, days: 0..<1) == [nil])
    }

    @Test func bothFaultsAreToldWhenBothHaveChanged() throws {
        try write("x", to: "user")
        try write("y", to: "machine")
        var files = files
        #expect(files.refresh()?.count == 2)
        #expect(files.faults.count == 2)
        #expect(files.annotations.deployments == DeploymentTable())
    }

    @Test func aFileThatCannotBeReadIsAFault() throws {
        try FileManager.default.createDirectory(atPath: path("user"), withIntermediateDirectories: true)
        try write("[animal B]\nwears = 0000000000000001", to: "machine")
        var files = files
        let told = files.refresh()
        let faults = try #require(told)
        #expect(faults.count == 1)
        guard case .unreadable = faults.first else {
            Issue.record("\(faults)")
            return
        }
        #expect(wearers(files, days: 0..<1) == ["B"])
        try remove("user")
        try write("[animal A]\nwears = 0000000000000001", to: "user")
        #expect(files.refresh() == [])
        #expect(wearers(files, days: 0..<1) == ["A"])
    }

    @Test func changesAreLookedForAtMostOnceASecond() throws {
        var files = files
        #expect(files.refresh(at: time(10)) == nil)
        for round in 1...3 {
            let start = 10 + Double(round)
            try write("[animal A\(round)]\nwears = 0000000000000001", to: "user")
            #expect(files.refresh(at: time(start - 0.001)) == nil, "less than a second after the last look")
            #expect(files.refresh(at: time(start)) == [])
            #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "A\(round)")
        }
        #expect(files.refresh(at: time(20)) == nil)
        try write("x", to: "user")
        #expect(files.refresh(at: time(20.9)) == nil)
        #expect(files.refresh(at: time(21))?.count == 1)
        #expect(files.refresh(at: time(22)) == nil, "a fault is told once")
    }

    @Test func aFileThatWasThereBeforeTheFirstLookIsReadAtIt() throws {
        try write("[animal A]\nwears = 0000000000000001", to: "machine")
        var files = files
        #expect(files.refresh(at: time(0)) == [])
        #expect(files.annotations.deployments.wearer(of: 1, at: 0)?.name == "A")
    }

    @Test func aFileThatIsTooLongIsAFaultThatNamesIt() throws {
        try write(String(repeating: "#", count: AnimalRegister.byteLimit + 1), to: "machine")
        var files = files
        let limit = AnimalRegister.byteLimit
        #expect(files.refresh() == [.animals(path: path("machine"), AnimalRegisterError(.tooLong(byteLimit: limit), line: 1))])
        try write(String(repeating: "#", count: AnimalRegister.byteLimit), to: "machine")
        #expect(files.refresh() == [])
    }

    @Test func noFilesHaveNoAnimals() {
        var files = AnnotationFiles(animals: [])
        #expect(files.refresh() == nil)
        #expect(files.annotations.deployments == DeploymentTable() && files.faults == [] && files.registers.isEmpty)
    }
}
