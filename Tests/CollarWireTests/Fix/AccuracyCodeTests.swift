import CollarWire
import Foundation
import Testing

/// The scale of accuracies, section 5.
@Suite struct AccuracyCodeTests {
    private let millimeters = (0...AccuracyCode.top).compactMap { AccuracyCode(rawValue: $0)?.millimeters }

    @Test func thereAre127Codes() {
        #expect(millimeters.count == 127)
        #expect(AccuracyCode(rawValue: 127) == nil)
        #expect(AccuracyCode(rawValue: 255) == nil)
    }

    @Test func eachCodeHasTheValueOfTheFormula() {
        for (code, value) in millimeters.enumerated() {
            let expected = code < 10 ? Double(10 * code) : (100 * pow(1.09, Double(code - 10))).rounded()
            #expect(Double(value) == expected)
        }
    }

    @Test func eachCodeHasTheValueOfTheSpecification() throws {
        let text = try String(
            contentsOf: Repository.root().appendingPathComponent("Protocol/PROTOCOL.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").drop { !$0.hasPrefix("| | +0 |") }.dropFirst(2).prefix(13)
        let cells = rows.flatMap { $0.split(separator: "|").dropFirst() }
        #expect(cells.compactMap { UInt32($0.filter(\.isNumber)) } == millimeters)
    }

    @Test func everyValueGetsTheNearestCodeAndOfTwoTheSmaller() {
        var wrong: [UInt32] = []
        var best = 0
        for value in 0...3_000_000 as ClosedRange<UInt32> {
            // The codes rise, and so do the values: the nearest code never falls.
            while best + 1 < millimeters.count, 2 * value > millimeters[best] + millimeters[best + 1] { best += 1 }
            if Int(AccuracyCode(nearestToMillimeters: value).rawValue) != best { wrong.append(value) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func aTieGoesToTheSmallerCode() {
        #expect(AccuracyCode(nearestToMillimeters: 5).rawValue == 0)
        #expect(AccuracyCode(nearestToMillimeters: 6).rawValue == 1)
        #expect(AccuracyCode(nearestToMillimeters: 114).rawValue == 11)
        #expect(AccuracyCode(nearestToMillimeters: 115).rawValue == 12)
    }

    @Test func aboveTheLastCodeIsTheLastCode() {
        #expect(AccuracyCode(nearestToMillimeters: 2_195_199).rawValue == 126)
        #expect(AccuracyCode(nearestToMillimeters: .max).rawValue == 126)
    }

    @Test func aCodesOwnValueIsThatCode() {
        for (code, value) in millimeters.enumerated() {
            #expect(Int(AccuracyCode(nearestToMillimeters: value).rawValue) == code)
        }
    }
}
