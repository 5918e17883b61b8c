import Testing

@testable import CollarWire

/// The scale of accuracies as a collar computes it, against the table of a host, which other tests hold to section 5.
@Suite struct AccuracyScaleTests {
    @Test func eachCodeHasTheValueOfTheTable() {
        var scale = AccuracyScale()
        var values = [scale.millimeters]
        while scale.code < AccuracyCode.top {
            scale.advance()
            #expect(Int(scale.code) == values.count)
            values.append(scale.millimeters)
        }
        #expect(values == AccuracyTable.millimeters.indices.map { AccuracyTable.millimeters[$0] })
    }

    @Test func everyValueGetsTheSameCode() {
        var wrong: [UInt32] = []
        for value in 0...2_300_000 as ClosedRange<UInt32>
        where AccuracyScale.code(nearestToMillimeters: value) != AccuracyCode(nearestToMillimeters: value).rawValue {
            wrong.append(value)
        }
        #expect(wrong.isEmpty)
        #expect(AccuracyScale.code(nearestToMillimeters: .max) == AccuracyCode.top)
    }
}
