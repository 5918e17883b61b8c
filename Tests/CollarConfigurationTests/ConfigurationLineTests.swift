import RadioModems
import Testing

@testable import CollarConfiguration

/// The parts of a line that a person edits: spaces, tabs and comments.
@Suite struct ConfigurationLineTests {
    private func line(_ text: String) -> String { String(ConfigurationLine.withoutComment(text[...])) }

    @Test(arguments: [
        ("", ""), ("#", ""), ("# a", ""), ("a # b", "a "), ("a\t# b", "a\t"), ("a \t# b", "a \t"), ("\t# b", "\t"), (" # b", " "),
        ("a#b", "a#b"), ("a#b # c", "a#b "), ("a#b\t#c", "a#b\t"), ("a = #b", "a = "), ("a =#b", "a =#b"), ("a##b", "a##b"), ("a #", "a "),
        ("a\u{A0}#b", "a\u{A0}#b"), ("ä\t#", "ä\t"),
    ])
    func aCommentBeginsAfterASpaceOrTab(text: String, rest: String) { #expect(line(text) == rest) }

    @Test(arguments: [
        ("a", "a"), ("", ""), (" \t ", ""), ("\ta\t", "a"), ("  a b\t c  ", "a b\t c"), ("\u{A0}a", "\u{A0}a"), ("a\n", "a\n"),
    ])
    func spacesAndTabsAroundWordsAreCutOff(text: String, rest: String) { #expect(text.trimmed == rest[...]) }

    @Test func anAssignmentIsSplitAtItsFirstEqualsSign() throws {
        for (text, key, value) in [
            ("a=b", "a", "b"), ("\ta\t =\t b ", "a", "b"), ("a = b = c", "a", "b = c"), ("=b", "", "b"), ("a =", "a", ""),
            ("a b = c d", "a b", "c d"),
        ] {
            let assignment = try #require(ConfigurationLine.assignment(text[...]))
            #expect(assignment.key == key[...] && assignment.value == value[...], "\(text)")
        }
        #expect(ConfigurationLine.assignment("a b") == nil)
    }

    @Test(arguments: [
        ("[animal A]", "A"), ("[animal\tA b]", "A b"), ("[ animal  A ]", "A"), ("[\tanimal A\t]", "A"), ("[animal [A]]", "[A]"),
        ("[animal ]", nil),
        ("[animalA]", nil), ("[animal]", nil), ("animal A", nil), ("[animal A", nil), ("animal A]", nil),
        ("[stick A]", nil), ("[Animal A]", nil),
    ])
    func aSectionHasAWordAndAName(text: String, name: String?) {
        #expect(ConfigurationLine.section(text[...], of: "animal").map(String.init) == name)
    }

    @Test func aTabBeginsACommentInTheConfigurationFile() throws {
        let text = "region\t=\tEU868\t# home\n\t# more\ntx-power = 5\t#\n[stick serial=A]\t# mine\n\tdialect = kiss\t \t# it\r\n"
        let file = try ConfigurationFile(Array(text.utf8), path: "/c")
        #expect(file.general.region?.name == "EU868")
        #expect(file.general.powerDBm == 5)
        #expect(file.sections.map(\.name) == [.serial("A")])
        #expect(file.sections.first?.options.dialect == .kiss)
    }

    @Test func aTabBeginsACommentInTheAnimalsFile() throws {
        let text = "[animal A]\t# grey\nspecies = Felis catus\t# x\n\tnotes = shy\t#\nwears = 000000000000000a until 2026-05-01\t# red\r\n"
        let animal = try #require(try AnimalRegister(Array(text.utf8)).animals.first)
        #expect((animal.name, animal.species, animal.notes) == ("A", "Felis catus", "shy"))
        #expect(animal.wearings.map(\.endUnixMilliseconds) == [1_777_593_600_000])
    }

    @Test func aChangeKeepsACommentAfterATab() throws {
        var register = try AnimalRegister(Array("[animal A]\t# grey\nspecies = Felis\t# x\n".utf8))
        try register.describe("A", species: "Felis catus", notes: nil)
        try register.rename("A", to: "B")
        #expect(String(decoding: register.content, as: UTF8.self) == "[animal B]\t# grey\nspecies = Felis catus\t# x\n")
    }
}
