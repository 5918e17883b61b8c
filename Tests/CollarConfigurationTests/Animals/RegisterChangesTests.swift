import CollarConfiguration
import CollarWire
import Testing

/// Changes of the animals file: literal texts before and after.
@Suite struct RegisterChangesTests {
    /// 2026-06-01T10:00:00Z.
    private static let now: Int64 = 1_780_308_000_000
    private static let day: Int64 = 86_400_000
    private static let one: DeviceID = 0x910A_2B3C_4D5E_6F70
    private static let two: DeviceID = 0x910A_2B3C_4D5E_6F71

    private static let text = """
        # my cats

        [animal Athena]   # the grey one
          # found in May
          species = Felis catus
          wears = 910a2b3c4d5e6f70 from 2026-05-01   # red collar

        [animal   Zeus  ]
        \tnotes=loud# and shy # since 2020

        # the end
        """

    private func register(_ text: String) throws -> AnimalRegister { try AnimalRegister(Array(text.utf8)) }

    private func text(_ register: AnimalRegister) -> String { String(decoding: register.content, as: UTF8.self) }

    private func lines(_ register: AnimalRegister) -> [Substring] {
        let lines = text(register).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.last == "" ? lines.dropLast() : lines
    }

    /// The text after a change of `RegisterChangesTests.text`.
    private func after(_ change: (inout AnimalRegister) throws -> Void) throws -> String {
        var register = try register(RegisterChangesTests.text)
        try change(&register)
        return text(register)
    }

    /// `RegisterChangesTests.text` with one part replaced, which must be there once.
    private func replacing(_ old: String, _ new: String) throws -> String {
        let parts = RegisterChangesTests.text.split(separator: old, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        return parts.joined(separator: new)
    }

    @Test func aFirstName() throws {
        var register = AnimalRegister()
        #expect(try register.put(RegisterChangesTests.one, on: "Athena", from: nil, until: nil, now: RegisterChangesTests.now) == nil)
        try register.describe("Athena", species: "Felis catus", notes: "grey, shy")
        #expect(
            text(register) == "[animal Athena]\nwears = 910a2b3c4d5e6f70\nspecies = Felis catus\nnotes = grey, shy\n")
        let before = register
        try register.put(RegisterChangesTests.one, on: "Athena", from: nil, until: nil, now: RegisterChangesTests.now)
        #expect(register == before)
    }

    @Test func aCollarThatIsWornGoesToAnother() throws {
        var ended: String?
        let zeus = try after {
            ended = try $0.put(RegisterChangesTests.one, on: "Zeus", from: nil, until: nil, now: RegisterChangesTests.now)
        }
        #expect(ended == "Athena")
        #expect(
            zeus == """
                # my cats

                [animal Athena]   # the grey one
                  # found in May
                  species = Felis catus
                  wears = 910a2b3c4d5e6f70 from 2026-05-01 until 2026-06-01T10:00:00Z   # red collar

                [animal   Zeus  ]
                \tnotes=loud# and shy # since 2020
                \twears = 910a2b3c4d5e6f70 from 2026-06-01T10:00:00Z

                # the end
                """)
        // A new animal, at the end of a file without a line feed.
        let hera = try after {
            try $0.put(RegisterChangesTests.one, on: "Hera", from: RegisterChangesTests.now + 1, until: nil, now: 0)
        }
        #expect(
            hera == (try replacing("2026-05-01   #", "2026-05-01 until 2026-06-01T10:00:00.001Z   #"))
                + "\n\n[animal Hera]\nwears = 910a2b3c4d5e6f70 from 2026-06-01T10:00:00.001Z\n")
    }

    @Test func aCollarThatIsNotWorn() throws {
        #expect(
            try after { try $0.put(RegisterChangesTests.two, on: "Zeus", from: nil, until: nil, now: RegisterChangesTests.now) }
                == (try replacing("# since 2020\n", "# since 2020\n\twears = 910a2b3c4d5e6f71\n")))
        // It was worn before: not from ever.
        let ended = try after {
            try $0.endDeployment(of: "Athena", at: RegisterChangesTests.now - RegisterChangesTests.day)
            try $0.put(RegisterChangesTests.one, on: "Zeus", from: nil, until: nil, now: RegisterChangesTests.now)
        }
        #expect(ended.contains("\twears = 910a2b3c4d5e6f70 from 2026-06-01T10:00:00Z\n"))
    }

    @Test func timesAreCorrected() throws {
        let day = RegisterChangesTests.day
        func corrected(from begin: Int64?, until end: Int64?) throws -> String {
            try after { try $0.put(RegisterChangesTests.one, on: "Athena", from: begin, until: end, now: RegisterChangesTests.now) }
        }
        #expect(try corrected(from: 1_777_593_600_000 - day, until: nil) == (try replacing("2026-05-01", "2026-04-30")))
        #expect(
            try corrected(from: nil, until: 1_777_593_600_000 + day) == (try replacing("2026-05-01", "2026-05-01 until 2026-05-02")))
        #expect(try corrected(from: nil, until: nil) == RegisterChangesTests.text)
        #expect(throws: AnimalRegisterError(.endBeforeBegin, line: nil)) { try corrected(from: 5, until: 5) }
    }

    @Test func endsAndNames() throws {
        let end = RegisterChangesTests.now + 1
        let ended = try replacing("2026-05-01", "2026-05-01 until 2026-06-01T10:00:00.001Z")
        #expect(try after { try $0.endDeployment(of: "Athena", at: end) } == ended)
        #expect(try after { try $0.endDeployment(of: RegisterChangesTests.one, at: end) } == ended)
        #expect(try after { try $0.rename("Athena", to: "Pallas Athene") } == (try replacing("Athena", "Pallas Athene")))
        #expect(try after { try $0.rename("Zeus", to: "Ζεύς") } == (try replacing("Zeus", "Ζεύς")))
        #expect(try after { try $0.rename("Zeus", to: "Zeus") } == RegisterChangesTests.text)
    }

    @Test func descriptions() throws {
        #expect(
            try after { try $0.describe("Athena", species: "Felis silvestris", notes: nil) }
                == (try replacing("Felis catus", "Felis silvestris")))
        #expect(try after { try $0.describe("Zeus", species: nil, notes: "calm") } == (try replacing("loud# and shy", "calm")))
        #expect(
            try after { try $0.describe("Athena", species: "F. catus", notes: "grey") }
                == (try replacing("Felis catus", "F. catus").replacing("# red collar\n", "# red collar\n  notes = grey\n")))
    }

    @Test func anAnimalGoesAndItsCommentsStay() throws {
        #expect(
            try after { try $0.remove("Athena") } == """
                # my cats

                # the grey one
                  # found in May
                # red collar

                [animal   Zeus  ]
                \tnotes=loud# and shy # since 2020

                # the end
                """)
    }

    @Test func carriageReturnsStay() throws {
        var register = try register("[animal A]\r\nnotes = x\r\n")
        try register.put(1, on: "B", from: nil, until: nil, now: 0)
        try register.describe("A", species: "y", notes: "z")
        #expect(text(register) == "[animal A]\r\nnotes = z\r\nspecies = y\r\n\r\n[animal B]\r\nwears = 0000000000000001\r\n")
    }

    @Test func whatIsNotPossible() throws {
        let before = try register(RegisterChangesTests.text)
        let now = RegisterChangesTests.now
        let one = RegisterChangesTests.one
        typealias Problem = AnimalRegisterError.Problem
        let cases: [(Problem, (inout AnimalRegister) throws -> Void)] = [
            (.unknownAnimal("Hera"), { try $0.remove("Hera") }),
            (.unknownAnimal("Hera"), { try $0.rename("Hera", to: "X") }),
            (.unknownAnimal("Hera"), { try $0.describe("Hera", species: "x", notes: nil) }),
            (.unknownAnimal("Hera"), { try $0.endDeployment(of: "Hera", at: now) }),
            (.nothingToEnd, { try $0.endDeployment(of: "Zeus", at: now) }),
            (.nothingToEnd, { try $0.endDeployment(of: 7, at: now) }),
            (.endBeforeBegin, { try $0.endDeployment(of: "Athena", at: 0) }),
            (.repeatedAnimal("Zeus", line: 8), { try $0.rename("Athena", to: "Zeus") }),
            (.wrongText("a #b", of: .name, .comment), { try $0.rename("Athena", to: "a #b") }),
            (.wrongText(" a", of: .name, .outerSpace), { try $0.rename("Athena", to: " a") }),
            (.wrongText("a\nb", of: .notes, .controlCharacter), { try $0.describe("Athena", species: nil, notes: "a\nb") }),
            (.wrongText("#x", of: .species, .comment), { try $0.describe("Athena", species: "#x", notes: nil) }),
            (.wrongText("0123456789abcdef", of: .name, .collarID),
                { try $0.put(one, on: "0123456789abcdef", from: nil, until: nil, now: now) }),
            (.wrongText("", of: .name, .empty), { try $0.put(one, on: "", from: nil, until: nil, now: now) }),
            // Would Athena wear it again after the end?
            (.worn(deviceID: one, by: "Athena", line: 6), { try $0.put(one, on: "Zeus", from: now, until: now + 1, now: now) }),
            // It would end before it begins at Athena's.
            (.worn(deviceID: one, by: "Athena", line: 6), { try $0.put(one, on: "Zeus", from: 0, until: nil, now: now) }),
        ]
        for (problem, change) in cases {
            var register = before
            #expect(throws: AnimalRegisterError(problem, line: nil)) { try change(&register) }
            #expect(register == before, "\(problem)")
        }
        var several = before
        try several.put(RegisterChangesTests.two, on: "Athena", from: nil, until: nil, now: now)
        #expect(throws: AnimalRegisterError(.severalCollars([one, RegisterChangesTests.two]), line: nil)) {
            try several.endDeployment(of: "Athena", at: now)
        }
    }

    /// Random changes, one after the other: each keeps every line that it is not about, byte for byte and in order.
    @Test(arguments: 0..<50) func unrelatedLinesStay(seed: Int) throws {
        var random = Sequence(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1)
        var register = try register(RegisterChangesTests.text)
        for step in 0..<40 {
            let name = ["Athena", "Zeus", "Hera"][Int(random.next() % 3)]
            let deviceID = DeviceID(rawValue: RegisterChangesTests.one.rawValue + random.next() % 3)
            let time = RegisterChangesTests.now + Int64(step) * RegisterChangesTests.day
            let before = lines(register)
            do {
                switch random.next() % 6 {
                case 0: try register.put(deviceID, on: name, from: nil, until: nil, now: time)
                case 1: try register.endDeployment(of: name, at: time)
                case 2: try register.describe(name, species: "s\(step)", notes: "n\(step)")
                case 3: try register.put(deviceID, on: name, from: time, until: nil, now: time)
                case 4: try register.rename(name, to: "Athena")
                default: try register.put(deviceID, on: name, from: time, until: time + 1, now: time)
                }
            } catch {}
            let after = lines(register)
            let change = after.difference(from: before)
            // At most two lines change, or are added with a header and a blank line.
            #expect(change.removals.count <= 2 && change.insertions.count <= 4, "seed \(seed), step \(step)")
            for comment in ["# my cats", "  # found in May", "# the end"] {
                #expect(after.filter { $0 == comment }.count == 1, "\(comment), seed \(seed), step \(step)")
            }
            for comment in ["# the grey one", "# red collar", "# since 2020"] {
                #expect(after.filter { $0.hasSuffix(comment) }.count == 1, "\(comment), seed \(seed), step \(step)")
            }
            for case .remove(_, let line, _) in change {
                #expect(!line.hasPrefix("#") && !line.isEmpty, "\(line), seed \(seed), step \(step)")
            }
            // What is written is read back as the same.
            #expect(try AnimalRegister(register.content) == register)
        }
    }

    private struct Sequence {
        var state: UInt64

        /// A pseudorandom number (xorshift64*).
        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return (state &* 0x2545_F491_4F6C_DD1D) >> 33
        }
    }
}

extension String {
    fileprivate func replacing(_ old: String, _ new: String) -> String { split(separator: old).joined(separator: new) }
}
