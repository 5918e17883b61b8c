import CollarARQ
import Testing

@testable import RadioModems

@Suite("Radio settings")
struct RadioSettingsTests {
    private func settings(spreadingFactor: UInt8) -> RadioSettings {
        RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: 14)
    }

    @Test("the turnaround through an RNode grows with the slots of its firmware", arguments: [(7, 500), (9, 900), (12, 1800)])
    func turnaround(spreadingFactor: UInt8, milliseconds: Int64) {
        let settings = settings(spreadingFactor: spreadingFactor)
        #expect(settings.turnaroundMicroseconds(of: .rnode) == milliseconds * 1000)
        #expect(settings.profile(of: .rnode).turnaroundMicroseconds == milliseconds * 1000)
    }

    /// Measured on the firmware's own source: 51 bytes take 127 ms with its preamble of 32 symbols, and 103 ms with 8.
    @Test("the airtime follows the preamble of the firmware")
    func airtime() {
        let settings = settings(spreadingFactor: 7)
        #expect(settings.profile(of: .kiss).airtimeMicroseconds(frameByteCount: 51) / 1000 == 127)
        #expect(settings.profile(of: .rui3).airtimeMicroseconds(frameByteCount: 51) / 1000 == 102)
    }

    @Test("an RNode's own byte takes airtime")
    func headerByte() {
        let settings = settings(spreadingFactor: 7)
        let with = settings.profile(of: .rnode)
        var without = settings.profile(of: .rui3)
        without.frameOverheadMicroseconds = with.frameOverheadMicroseconds
        for count in 1...252 {
            #expect(
                with.airtimeMicroseconds(frameByteCount: count) == without.airtimeMicroseconds(frameByteCount: count + 1))
        }
    }
}
