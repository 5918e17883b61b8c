import CollarConfiguration
import CollarWire
import Testing

/// Putting collars on animals and taking them off: the line that changes, and the changes that are refused.
@Suite struct DeploymentChangesTests {
    /// 2026-06-01T10:00:00Z.
    private static let now: Int64 = 1_780_308_000_000
    /// 2026-05-01.
    private static let may: Int64 = 1_777_593_600_000
    private static let day: Int64 = 86_400_000

    private var now: Int64 { DeploymentChangesTests.now }
    private let one = "0000000000000001"

    private func day(_ number: Int64) -> Int64 { DeploymentChangesTests.may + (number - 1) * DeploymentChangesTests.day }

    /// The lines after a change of these, or the problem of the change.
    private func lines(
        _ lines: [String], _ change: (inout AnimalRegister) throws -> Void
    ) throws -> (lines: [String]?, problem: AnimalRegisterError.Problem?) {
        var register = try AnimalRegister(lines: lines + [""])
        do { try change(&register) } catch {
            let error = try #require(error as? AnimalRegisterError)
            #expect(register.lines == lines + [""] && error.line == nil)
            return (nil, error.problem)
        }
        return (register.lines.dropLast().map { $0 }, nil)
    }

    private func put(
        _ lines: [String], on name: String, from begin: Int64? = nil, until end: Int64? = nil, collar: DeviceID = 1, ends: String? = nil
    ) throws -> (lines: [String]?, problem: AnimalRegisterError.Problem?) {
        try self.lines(lines) {
            let ended = try $0.put(collar, on: name, from: begin, until: end, now: now)
            #expect(ended == ends)
        }
    }

    // MARK: The animal's own lines

    @Test func aFormerWearerGetsASecondLine() throws {
        let former = ["[animal A]", "wears = \(one) from 2026-05-01 until 2026-05-10"]
        #expect(try put(former, on: "A").lines == former + ["wears = \(one) from 2026-06-01T10:00:00Z"])
    }

    @Test func oneBoundChangesAndTheOtherStays() throws {
        let before = ["[animal A]", "wears = \(one) from 2026-05-01 until 2026-05-10"]
        #expect(try put(before, on: "A", from: day(3)).lines?.last == "wears = \(one) from 2026-05-03 until 2026-05-10")
        #expect(try put(before, on: "A", until: day(12)).lines?.last == "wears = \(one) from 2026-05-01 until 2026-05-12")
        #expect(try put(before, on: "A", from: day(12)).lines == before + ["wears = \(one) from 2026-05-12"])
        #expect(
            try put(before, on: "A", from: day(10), until: day(11)).lines == before + ["wears = \(one) from 2026-05-10 until 2026-05-11"])
    }

    @Test func theLineOfTheseTimesChanges() throws {
        let before = [
            "[animal A]", "wears = \(one) from 2026-05-01 until 2026-05-05", "wears = \(one) from 2026-05-10 until 2026-05-15",
            "wears = 0000000000000002 from 2026-05-11",
        ]
        var expected = before
        expected[2] = "wears = \(one) from 2026-05-11 until 2026-05-20"
        #expect(try put(before, on: "A", from: day(11), until: day(20)).lines == expected)
        // It would reach into the animal's other line.
        #expect(try put(before, on: "A", until: day(12)).problem == .worn(deviceID: 1, by: "A", line: 3))
    }

    @Test func aLineOfThePresentTimeStaysAsItIs() throws {
        for times in ["  from\t2026-05-01T00:00:00Z", " from 2026-06-01T10:00:00Z", " until 2026-06-01T10:00:00.001Z"] {
            let before = ["[animal A]", "  wears =  000000000000000A\(times)  # red"]
            #expect(try put(before, on: "A", collar: 0xA).lines == before)
        }
        let ended = ["[animal A]", "wears = \(one) until 2026-06-01T10:00:00Z"]
        #expect(try put(ended, on: "A").lines == ended + ["wears = \(one) from 2026-06-01T10:00:00Z"])
    }

    // MARK: Other wearers

    @Test func correctedTimesDoNotReachIntoThoseOfAnother() throws {
        let before = ["[animal A]", "wears = \(one) from 2026-05-01 until 2026-05-10", "[animal B]", "wears = \(one) from 2026-05-10"]
        #expect(try put(before, on: "A", until: day(11)).problem == .worn(deviceID: 1, by: "B", line: 4))
        #expect(try put(before, on: "B", from: day(9)).problem == .worn(deviceID: 1, by: "A", line: 2))
        #expect(try put(before, on: "A", until: day(9)).lines?[1] == "wears = \(one) from 2026-05-01 until 2026-05-09")
    }

    @Test func theWearerWithoutAnEndHandsOver() throws {
        let before = [
            "[animal A]", "wears = \(one) until 2026-05-10", "[animal B]", "wears = 0000000000000002", "wears = \(one) from 2026-05-10",
            "[animal C]",
        ]
        var expected = before + ["wears = \(one) from 2026-06-01T10:00:00Z"]
        expected[4] = "wears = \(one) from 2026-05-10 until 2026-06-01T10:00:00Z"
        #expect(try put(before, on: "C", ends: "B").lines == expected)
        // From its begin on, it would have no time left.
        #expect(try put(before, on: "C", from: day(10)).problem == .worn(deviceID: 1, by: "B", line: 5))
        #expect(
            try put(before, on: "C", from: day(10) + 1, ends: "B").lines?[4]
                == "wears = \(one) from 2026-05-10 until 2026-05-10T00:00:00.001Z")
    }

    @Test func aWearerOfTheFutureDoesNotHandOver() throws {
        let before = ["[animal B]", "wears = \(one) from 2026-07-01", "[animal C]"]
        #expect(try put(before, on: "C").problem == .worn(deviceID: 1, by: "B", line: 2))
        #expect(
            try put(before, on: "C", until: day(62)).lines == before + ["wears = \(one) from 2026-06-01T10:00:00Z until 2026-07-01"])
    }

    @Test func anEndAloneHasABeginIfTheCollarIsKnown() throws {
        let end = now + DeploymentChangesTests.day
        #expect(try put(["[animal A]"], on: "A", until: end).lines?.last == "wears = \(one) until 2026-06-02T10:00:00Z")
        let known = ["[animal A]", "[animal B]", "wears = \(one) until 2026-05-10"]
        #expect(try put(known, on: "A", until: end).lines?[1] == "wears = \(one) from 2026-06-01T10:00:00Z until 2026-06-02T10:00:00Z")
        #expect(try put(known, on: "A", until: now).problem == .endBeforeBegin)
        // The lines of other collars do not count.
        #expect(try put(known, on: "A", collar: 2).lines?[1] == "wears = 0000000000000002")
    }

    // MARK: Ends

    @Test func theLineWithoutAnEndIsEnded() throws {
        let before = [
            "[animal A]", "wears = \(one) from 2026-05-01 until 2026-05-10", "wears = 0000000000000002 from 2026-05-02", "[animal B]",
            "wears = \(one) from 2026-05-10", "wears = 0000000000000003",
        ]
        func ended(_ line: Int, _ text: String) -> [String] {
            var lines = before
            lines[line] = text
            return lines
        }
        #expect(
            try lines(before) { try $0.endDeployment(of: "A", at: now) }.lines
                == ended(2, "wears = 0000000000000002 from 2026-05-02 until 2026-06-01T10:00:00Z"))
        #expect(
            try lines(before) { try $0.endDeployment(of: DeviceID(rawValue: 1), at: now) }.lines
                == ended(4, "wears = \(one) from 2026-05-10 until 2026-06-01T10:00:00Z"))
        #expect(
            try lines(before) { try $0.endDeployment(of: "B", at: now) }.problem
                == .severalCollars([1, 3]))
    }

    @Test func anEndThatIsSetIsNotSetAgain() throws {
        for end in ["2026-05-10", "2026-07-01"] {
            let before = ["[animal A]", "wears = \(one) until \(end)"]
            #expect(try lines(before) { try $0.endDeployment(of: "A", at: now) }.problem == .nothingToEnd)
        }
    }
}
