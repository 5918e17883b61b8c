@testable import CollarWire
import Foundation
import Testing

/// The sine by which live fixes predict the way, section 11.
@Suite struct SineTests {
    @Test func eachDegreeHasTheRoundedValue() {
        for degrees in 0...90 as ClosedRange<UInt32> {
            let expected = (32_768 * sin(Double(degrees) * .pi / 180)).rounded()
            #expect(Double(Sine.scaled(degrees)) == expected)
        }
    }
}
