import CollarConfiguration
import CollarFormats
import CollarWire
import Testing

/// Lines that put a collar on two animals at one time, wherever they stand in the file.
@Suite struct OverlappingWearingsTests {
    private func error(_ wearings: String...) -> AnimalRegisterError? {
        let text = wearings.enumerated().map { "[animal \("ABCD".dropFirst($0).prefix(1))]\nwears = \($1)" }.joined(separator: "\n")
        do throws(AnimalRegisterError) {
            _ = try AnimalRegister(Array(text.utf8))
            return nil
        } catch { return error }
    }

    private let one = "0000000000000001"

    private func worn(by name: String, line: Int, at later: Int) -> AnimalRegisterError {
        AnimalRegisterError(.worn(deviceID: 1, by: name, line: line), line: later)
    }

    @Test func linesThatAreNotNeighboursAreCompared() {
        let middle = "\(one) from 2026-01-01 until 2026-02-01"
        #expect(
            error("\(one) from 2026-05-01 until 2026-06-01", middle, "\(one) from 2026-05-31 until 2026-07-01")
                == worn(by: "A", line: 2, at: 6))
        #expect(
            error("\(one) until 2025-01-01", middle, "\(one) from 2026-08-01", "\(one) until 2024-01-01") == worn(by: "A", line: 2, at: 8))
        #expect(error("\(one) from 2026-05-01", middle, "0000000000000002", "\(one) from 2027-01-01") == worn(by: "A", line: 2, at: 8))
    }

    @Test func aLineWithinAnotherIsFoundAlsoWhenItStandsFirst() {
        #expect(
            error("\(one) from 2026-05-10 until 2026-05-11", "\(one) from 2026-05-01 until 2026-06-01") == worn(by: "A", line: 2, at: 4))
        #expect(error("\(one)", "\(one)") == worn(by: "A", line: 2, at: 4))
    }

    @Test func linesMayStandInAnyOrderOfTimes() {
        #expect(
            error(
                "\(one) from 2026-05-01 until 2026-06-01", "\(one) until 2026-01-01", "\(one) from 2026-06-01",
                "\(one) from 2026-01-01 until 2026-05-01") == nil)
        #expect(error("\(one) from 2026-05-01", "0000000000000002 from 2026-05-01", "0000000000000003") == nil)
    }

    @Test func anEndBeforeTheBeginIsNoOverlapButWrong() {
        #expect(error("\(one) from 2026-05-02 until 2026-05-01") == AnimalRegisterError(.endBeforeBegin, line: 2))
    }
}
