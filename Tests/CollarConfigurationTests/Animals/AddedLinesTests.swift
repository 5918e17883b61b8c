import CollarConfiguration
import CollarWire
import Testing

/// Places, indents and line ends of added lines, and removed lines.
@Suite struct AddedLinesTests {
    private func changed(_ text: String, _ change: (inout AnimalRegister) throws -> Void) throws -> String {
        var register = try AnimalRegister(Array(text.utf8))
        try change(&register)
        return String(decoding: register.content, as: UTF8.self)
    }

    @Test(arguments: [
        ("", ""), ("\n", "\n"), ("[animal A]", "[animal A]\n\n"), ("[animal A]\n", "[animal A]\n\n"), ("[animal A]\n\n", "[animal A]\n\n"),
        ("[animal A]\n \t\n", "[animal A]\n \t\n"), ("# cats", "# cats\n\n"), ("[animal A]\nnotes = x", "[animal A]\nnotes = x\n\n"),
    ])
    func oneBlankLineStandsBeforeANewAnimal(text: String, beginning: String) throws {
        let end = "[animal B]\nwears = 0000000000000001\n"
        #expect(
            try changed(text) { try $0.put(1, on: "B", from: nil, until: nil, now: 0) }
                == beginning + end)
    }

    @Test(arguments: [
        ("[animal A]\r\nnotes = x", "[animal A]\r\nnotes = x\r\n\r\n"), ("[animal A]\r\n\r\n", "[animal A]\r\n\r\n"),
    ])
    func everyLineEndsAsTheFirstOne(text: String, beginning: String) throws {
        let end = "[animal B]\r\nwears = 0000000000000001\r\n"
        #expect(
            try changed(text) { try $0.put(1, on: "B", from: nil, until: nil, now: 0) }
                == beginning + end)
    }

    @Test(arguments: [
        ("  [animal A]\n\n# of B\n[animal B]", "  [animal A]\nspecies = s\n\n# of B\n[animal B]"),
        ("[animal A]\n\tnotes = x\n  wears = 0000000000000001\n\n[animal B]\n",
            "[animal A]\n\tnotes = x\n  wears = 0000000000000001\n  species = s\n\n[animal B]\n"),
        ("[animal B]\n[animal A]\n  notes = x", "[animal B]\n[animal A]\n  notes = x\n  species = s"),
        ("[animal B]\nspecies = t\n[animal A]\n # c", "[animal B]\nspecies = t\n[animal A]\nspecies = s\n # c"),
    ])
    func aNewKeyFollowsTheLastOneOfItsAnimal(text: String, expected: String) throws {
        #expect(
            try changed(text) { try $0.describe("A", species: "s", notes: nil) } == expected)
    }

    @Test func eachTextOfADescriptionHasItsPlace() throws {
        let text = "[animal A]\nnotes = x # n\nspecies = y # s\nwears = 0000000000000001\n"
        #expect(
            try changed(text) { try $0.describe("A", species: "t", notes: "m") }
                == "[animal A]\nnotes = m # n\nspecies = t # s\nwears = 0000000000000001\n")
        #expect(try changed(text) { try $0.describe("A", species: nil, notes: nil) } == text)
        #expect(
            try changed("[animal A]\n[animal B]\n") {
                try $0.describe("A", species: "t", notes: "m")
            } == "[animal A]\nspecies = t\nnotes = m\n[animal B]\n")
    }

    @Test func anAnimalInTheMiddleGoesWithItsCollars() throws {
        let text = """
            [animal A]
            notes = x
            [animal B] # b
            species = s
            # in B
            wears = 0000000000000002 # v

            # after
            [animal C]
            wears = 0000000000000003
            """
        #expect(
            try changed(text) { try $0.remove("B") }
                == "[animal A]\nnotes = x\n# b\n# in B\n# v\n\n# after\n[animal C]\nwears = 0000000000000003")
        var register = try AnimalRegister(Array(text.utf8))
        try register.remove("B")
        try register.remove("C")
        #expect(register.animals.map(\.name) == ["A"])
        #expect(try register.put(2, on: "A", from: nil, until: nil, now: 0) == nil, "no animal wears it any more")
    }

    @Test func aLaterAnimalIsRenamedAndTheOthersStay() throws {
        #expect(
            try changed("[animal A]\n[ animal  B ]  # b\nnotes = B\n[animal C]") {
                try $0.rename("B", to: "D")
            } == "[animal A]\n[ animal  D ]  # b\nnotes = B\n[animal C]")
    }
}
