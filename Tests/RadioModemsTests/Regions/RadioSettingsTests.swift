import CollarARQ
@testable import RadioModems
import Testing

@Suite("Radio settings")
struct RadioSettingsTests {
    private func settings(spreadingFactor: UInt8) -> RadioSettings {
        RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: 14)
    }

    /// Thirty slots: two, and 28 of the window that follows after 7 % of airtime.
    @Test("the turnaround through an RNode grows with the slots of its firmware", arguments: [(7, 800), (9, 1600), (12, 3200)])
    func turnaround(spreadingFactor: UInt8, milliseconds: Int64) {
        let settings = settings(spreadingFactor: spreadingFactor)
        #expect(settings.turnaroundMicroseconds(of: .rnode) == milliseconds * 1000)
        #expect(settings.profile(of: .rnode).turnaroundMicroseconds == milliseconds * 1000)
    }

    /// From RNode_Firmware 1.86, `Utilities.h` lines 1242–1261: 24 ms, and at least 18 symbols; above 30,000 bit/s 6 ms.
    @Test("an RNode's preamble takes 24 ms", arguments: [
        (125_000, 12, 18), (125_000, 9, 18), (125_000, 8, 18), (125_000, 7, 24), (125_000, 6, 47), (125_000, 5, 94), (250_000, 7, 47),
        (500_000, 7, 94), (250_000, 6, 94), (500_000, 6, 47), (500_000, 5, 94),
    ] as [(UInt32, UInt8, UInt16)])
    func preamble(bandwidth: UInt32, spreadingFactor: UInt8, symbols: UInt16) {
        var settings = settings(spreadingFactor: spreadingFactor)
        settings.bandwidthHertz = bandwidth
        #expect(RNodeTiming(settings).preambleSymbols == symbols)
        let difference =
            settings.profile(of: .rnode).frameOverheadMicroseconds - settings.profile(of: .rui3).frameOverheadMicroseconds
        #expect(difference == (Int64(symbols) - 8) * settings.symbolMicroseconds)
    }

    @Test("above 14,000 bit/s an RNode waits before each packet", arguments: [
        (125_000, 7, true), (125_000, 6, true), (125_000, 5, false), (250_000, 7, true), (250_000, 6, false), (500_000, 7, false),
    ] as [(UInt32, UInt8, Bool)])
    func sendsTogether(bandwidth: UInt32, spreadingFactor: UInt8, isTogether: Bool) {
        var settings = settings(spreadingFactor: spreadingFactor)
        settings.bandwidthHertz = bandwidth
        #expect(RNodeTiming(settings).sendsTogether == isTogether)
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
