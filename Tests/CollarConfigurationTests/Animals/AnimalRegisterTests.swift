import CollarConfiguration
import CollarFormats
import Testing

/// Reading of the animals file.
@Suite struct AnimalRegisterTests {
    private func register(_ text: String) throws(AnimalRegisterError) -> AnimalRegister { try AnimalRegister(Array(text.utf8)) }

    private func error(_ text: String) -> AnimalRegisterError? {
        do throws(AnimalRegisterError) {
            _ = try register(text)
            return nil
        } catch { return error }
    }

    @Test func aWholeFile() throws {
        let text = """
            # my cats

              [animal Mr. Whiskers]   # the old one
            \tspecies=Felis catus# not a comment
            notes = grey, shy = very # a comment
            wears = 910A2b3c4d5e6f70 from 2026-05-01 until 2026-09-30T12:00:00Z
            wears = 910a2b3c4d5e6f71   from\t2026-10-01T00:00:00.250+02:00
            [animal Ωmega]
            [animal x]
            wears = 0000000000000001 until 2026-05-01
            """
        let animals = try register(text).animals
        try #require(animals.map(\.name) == ["Mr. Whiskers", "Ωmega", "x"])
        #expect(animals.map(\.line) == [3, 8, 9])
        #expect(animals.map(\.species) == ["Felis catus# not a comment", nil, nil])
        #expect(animals.map(\.notes) == ["grey, shy = very", nil, nil])
        #expect(animals[0].wearings.map(\.deviceID) == [0x910A_2B3C_4D5E_6F70, 0x910A_2B3C_4D5E_6F71])
        #expect(animals[0].wearings.map(\.beginUnixMilliseconds) == [1_777_593_600_000, 1_790_805_600_250])
        #expect(animals[0].wearings.map(\.endUnixMilliseconds) == [1_790_769_600_000, nil])
        #expect(animals[2].wearings.map(\.beginUnixMilliseconds) == [nil])
        #expect(animals[2].wearings.map(\.endUnixMilliseconds) == [1_777_593_600_000])
    }

    @Test func theContentStaysAsItIs() throws {
        for text in ["", "\n", "# only this", "\r\n[animal A]\r\n", "[animal A]", "[animal A]\n\n\n  "] {
            #expect(try register(text).content == Array(text.utf8))
        }
        #expect(AnimalRegister().content == [])
    }

    @Test func aCollarChangesHands() throws {
        let table = DeploymentTable(
            try register("[animal A]\nwears = 0000000000000001 until 2026-05-01\n[animal B]\nwears = 0000000000000001 from 2026-05-01")
                .deployments)
        #expect(table.wearer(of: 1, at: 1_777_593_599_999)?.name == "A")
        #expect(table.wearer(of: 1, at: 1_777_593_600_000)?.name == "B")
    }

    @Test func wrongLines() {
        typealias Problem = AnimalRegisterError.Problem
        let cases: [(String, Problem, line: Int)] = [
            ("# a\n[animal A]\nwhat", .notAnAssignment("what"), 3),
            ("[cat A]", .unknownSection("[cat A]"), 1),
            ("[animal ]", .unknownSection("[animal ]"), 1),
            ("[animalA]", .unknownSection("[animalA]"), 1),
            ("[animal A", .unknownSection("[animal A"), 1),
            ("\nspecies = x", .keyWithoutAnimal("species"), 2),
            ("[animal A]\ncolour = x", .unknownKey("colour"), 2),
            ("[animal A]\nnotes = x\n\nnotes = y", .repeatedKey("notes", line: 2), 4),
            ("[animal A]\n[animal B]\n[animal  A ]", .repeatedAnimal("A", line: 1), 3),
            ("[animal 910a2b3c4d5e6f70]", .wrongText("910a2b3c4d5e6f70", of: .name, .collarID), 1),
            ("[animal a\tb]", .wrongText("a\tb", of: .name, .controlCharacter), 1),
            ("[animal A]\nspecies = a\u{1B}[2J", .wrongText("a\u{1B}[2J", of: .species, .controlCharacter), 2),
            ("[animal A]\nnotes =", .wrongText("", of: .notes, .empty), 2),
            ("[animal A]\nnotes = # none", .wrongText("", of: .notes, .empty), 2),
            ("[animal A]\nwears =", .wrongWearing(""), 2),
            ("[animal A]\nwears = 910a", .wrongCollar("910a"), 2),
            ("[animal A]\nwears = 0000000000000001 since 2026-05-01", .wrongWearing("0000000000000001 since 2026-05-01"), 2),
            ("[animal A]\nwears = 0000000000000001 from", .wrongWearing("0000000000000001 from"), 2),
            ("[animal A]\nwears = 0000000000000001 until 2026-05-01 from 2026-04-01",
                .wrongWearing("0000000000000001 until 2026-05-01 from 2026-04-01"), 2),
            ("[animal A]\nwears = 0000000000000001 from 2026-02-30", .wrongTime("2026-02-30"), 2),
            ("[animal A]\nwears = 0000000000000001 until yesterday", .wrongTime("yesterday"), 2),
            ("[animal A]\nwears = 0000000000000001 from 2026-05-01 until 2026-05-01", .endBeforeBegin, 2),
            ("[animal A]\nwears = 0000000000000001\n[animal B]\nwears = 0000000000000001 from 2026-05-01",
                .worn(deviceID: 1, by: "A", line: 2), 4),
            ("[animal A]\nwears = 0000000000000001 from 2026-05-01\nwears = 0000000000000001 until 2026-05-01T00:00:00.001Z",
                .worn(deviceID: 1, by: "A", line: 2), 3),
        ]
        for (text, problem, line) in cases { #expect(error(text) == AnimalRegisterError(problem, line: line), "\(text)") }
    }

    @Test func bytesAndLimits() throws {
        #expect(throws: AnimalRegisterError(.notText, line: 2)) { try AnimalRegister(Array("# a\n".utf8) + [0xC3, 0x28]) }
        let name = String(repeating: "n", count: 128)
        #expect(try register("[animal \(name)]").animals.map(\.name) == [name])
        #expect(error("[animal \(name)n]")?.problem == .wrongText(name + "n", of: .name, .tooLong(byteLimit: 128)))
        let notes = String(repeating: "ä", count: 512)
        #expect(error("[animal A]\nnotes = \(notes)") == nil)
        #expect(error("[animal A]\nnotes = \(notes)!")?.problem == .wrongText(notes + "!", of: .notes, .tooLong(byteLimit: 1024)))
        let comment = [UInt8](repeating: UInt8(ascii: "#"), count: 1 << 20)
        #expect(try AnimalRegister(comment).animals.isEmpty)
        #expect(throws: AnimalRegisterError(.tooLong(byteLimit: 1_048_576), line: 1)) { try AnimalRegister(comment + [0x23]) }
    }

    @Test func selections() throws {
        let table = DeploymentTable(
            try register("[animal A]\nwears = 0000000000000002 from 2026-05-01\nwears = 0000000000000001 until 2026-05-01").deployments)
        let animal = CollarSelection.animal(name: "A", table)
        #expect(animal.deviceIDs == [1, 2])
        #expect(animal.contains(1, at: 0) && !animal.contains(1, at: 1_777_593_600_000))
        #expect(!animal.contains(2, at: 0) && animal.contains(2, at: 1_777_593_600_000) && !animal.contains(3, at: 0))
        #expect(CollarSelection.collar(7).deviceIDs == [7])
        #expect(CollarSelection.collar(7).contains(7, at: 0) && !CollarSelection.collar(7).contains(8, at: 0))
        #expect(CollarSelection.all.deviceIDs == nil && CollarSelection.all.contains(8, at: 0))
    }
}
