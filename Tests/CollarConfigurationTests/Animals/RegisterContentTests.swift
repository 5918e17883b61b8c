import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire
import Glibc
import Testing

/// Contents of files with several animals, limits of texts, and codes of faults.
@Suite struct RegisterContentTests {
    private func register(_ text: String) throws(AnimalRegisterError) -> AnimalRegister { try AnimalRegister(Array(text.utf8)) }

    private func problem(_ change: () throws -> Void) -> AnimalRegisterError.Problem? {
        do {
            try change()
            return nil
        } catch { return (error as? AnimalRegisterError)?.problem }
    }

    @Test func eachAnimalHasKeysOfItsOwn() throws {
        let animals = try register("[animal A]\nspecies = s\nnotes = n\n[animal a]\nnotes = m\nspecies = t\n").animals
        #expect(animals.map(\.name) == ["A", "a"])
        #expect(animals.map(\.species) == ["s", "t"])
        #expect(animals.map(\.notes) == ["n", "m"])
        let again = problem { _ = try register("[animal A]\nspecies = s\n[animal B]\nspecies = s\nnotes = n\nspecies = s") }
        #expect(again == .repeatedKey("species", line: 4))
    }

    @Test func deploymentsNameTheSpeciesAndTheTimes() throws {
        let text = """
            [animal A]
            wears = 0000000000000002 until 1970-01-02
            species = Felis catus
            wears = 0000000000000001 from 1970-01-03
            [animal B]
            wears = 0000000000000002 from 1970-01-02 until 1970-01-03
            """
        let day: Int64 = 86_400_000
        #expect(
            try register(text).deployments == [
                Deployment(animal: Animal(name: "A", species: "Felis catus"), deviceID: 2, endUnixMilliseconds: day),
                Deployment(animal: Animal(name: "A", species: "Felis catus"), deviceID: 1, beginUnixMilliseconds: 2 * day),
                Deployment(animal: Animal(name: "B"), deviceID: 2, beginUnixMilliseconds: day, endUnixMilliseconds: 2 * day),
            ])
    }

    @Test func aSelectionByNameHasEachCollarOnceAndNoOtherAnimals() throws {
        let text = """
            [animal A]
            wears = 0000000000000003 until 1970-01-02
            wears = 0000000000000001
            wears = 0000000000000003 from 1970-01-03
            [animal B]
            wears = 0000000000000002
            wears = 0000000000000003 from 1970-01-02 until 1970-01-03
            """
        let table = DeploymentTable(try register(text).deployments)
        let day: Int64 = 86_400_000
        func selected(_ name: String) -> [Bool] {
            let selection = CollarSelection.animal(name: name, table)
            return (0..<3).map { selection.contains(3, at: $0 * day) }
        }
        #expect(CollarSelection.animal(name: "A", table).deviceIDs == [1, 3])
        #expect(CollarSelection.animal(name: "B", table).deviceIDs == [2, 3])
        #expect(CollarSelection.animal(name: "C", table).deviceIDs == [])
        #expect([selected("A"), selected("B"), selected("C")] == [[true, false, true], [false, true, false], [false, false, false]])
    }

    @Test func aSpeciesIsAsShortAsANameAndNotesAreLonger() throws {
        let (long, longer) = (String(repeating: "s", count: 128), String(repeating: "s", count: 129))
        var animals = try register("[animal A]\nspecies = \(long)\nnotes = \(longer)")
        #expect(animals.animals.map(\.species) == [long])
        let limit = AnimalRegisterError.TextFault.tooLong(byteLimit: 128)
        #expect(
            problem { _ = try register("[animal A]\nspecies = \(longer)") }
                == .wrongText(longer, of: .species, limit))
        #expect(
            problem { try animals.describe("A", species: longer, notes: nil) }
                == .wrongText(longer, of: .species, limit))
        #expect(problem { try animals.rename("A", to: longer) } == .wrongText(longer, of: .name, limit))
        try animals.describe("A", species: nil, notes: String(repeating: "n", count: 1024))
        try animals.rename("A", to: long)
        #expect(animals.animals.map(\.name) == [long])
        let notes = String(repeating: "n", count: 1025)
        #expect(
            problem { try animals.describe(long, species: nil, notes: notes) }
                == .wrongText(notes, of: .notes, .tooLong(byteLimit: 1024)))
    }

    /// The change adds 38 bytes: two line feeds, the header, the collar, and their line feeds.
    @Test func aChangeMakesNoFileThatIsTooLongToBeRead() throws {
        let limit = AnimalRegister.byteLimit
        for (spare, expected) in [(38, nil), (37, .tooLong(byteLimit: limit))] as [(Int, AnimalRegisterError.Problem?)] {
            var animals = try AnimalRegister([UInt8](repeating: UInt8(ascii: "#"), count: limit - spare))
            #expect(problem { try animals.put(1, on: "B", from: nil, until: nil, now: 0) } == expected)
            #expect(animals.content.count == (expected == nil ? limit : limit - spare))
        }
    }

    @Test func faultsHaveTheirCodesAndExitCodes() {
        let faults: [(EditedFileFault, ExitCode)] = [
            (.unreadable(FileFailure(.open, "/x", errorNumber: EACCES), .animalsUnusable), .noPermission),
            (.unreadable(FileFailure(.open, "/x", errorNumber: EIO), .animalsUnusable), .configuration),
            (.unreadable(FileFailure(.open, "/x", errorNumber: EISDIR), .animalsUnusable), .configuration),
            (.animals(path: "/x", AnimalRegisterError(.notText, line: 3)), .configuration),
            (.animals(path: "/x", AnimalRegisterError(.tooLong(byteLimit: 1), line: 1)), .configuration),
        ]
        for (fault, exitCode) in faults {
            #expect(fault.exitCode == exitCode, "\(fault)")
            #expect(fault.code == .animalsUnusable && fault.message.code == .animalsUnusable, "\(fault)")
        }
    }
}
