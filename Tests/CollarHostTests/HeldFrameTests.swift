import CollarARQ
import CollarJournal
import CollarWire
import Testing

@testable import CollarHost

struct HeldFrameTests {
    private let start = Instant(microseconds: 1_000_000)
    /// A frame whose CRC field is 0x123456. The other bytes are arbitrary, because a held frame is not decoded.
    private let packet: [UInt8] = [0x22, 0, 17, 1, 2, 3, 0x12, 0x34, 0x56]

    private func report(check: UInt32) throws -> [UInt8] {
        let report = SignalReport(packetCRC: check, signal: RadioSignal(strengthDBm: -90))
        return try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try report.encode(into: &output)
        }
    }

    @Test func nothingIsHeldBeforeTheRadioSpoke() {
        var held = HeldFrame()
        #expect(!held.isReporting)
        held.radioSpoke()
        #expect(held.isReporting)
    }

    @Test func theReportAboutTheFrameGivesItsSignal() throws {
        var held = HeldFrame()
        held.reportCame()
        let (right, wrong) = (try report(check: 0x123456), try report(check: 0x123457))
        #expect(held.signal(in: right.span) == nil)
        held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
        #expect(held.signal(in: wrong.span) == nil)
        #expect(held.signal(in: packet.span) == nil)
        #expect(held.signal(in: right.span) == RadioSignal(strengthDBm: -90))
        #expect(held.bytes == packet)
        held.release(isReported: true)
        #expect(held.deadline == nil)
        #expect(held.signal(in: right.span) == nil)
    }

    @Test func aDamagedReportTellsNothing() throws {
        var held = HeldFrame()
        held.reportCame()
        held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
        let whole = try report(check: 0x123456)
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x40
            #expect(held.signal(in: damaged.span) == nil)
        }
    }

    @Test(arguments: [(nil, 20_000), (100_000, 20_000), (80_000, 20_000), (40_000, 10_000), (0, 0)])
    func theWaitLeavesTimeForTheAnswer(turnaround: Int64?, wait: Int64) {
        var held = HeldFrame()
        held.hold(packet.span, now: start, turnaroundMicroseconds: turnaround)
        #expect(held.deadline == start.advanced(byMicroseconds: wait))
    }

    @Test func aRadioThatDoesNotReportIsNotWaitedForForEver() {
        var held = HeldFrame()
        held.radioSpoke()
        for _ in 0..<8 {
            #expect(held.isReporting)
            held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
            held.release(isReported: false)
        }
        #expect(!held.isReporting)
        held.radioSpoke()
        #expect(!held.isReporting)
        held.reportCame()
        #expect(held.isReporting)
    }

    @Test func aReportBetweenKeepsThePatience() {
        var held = HeldFrame()
        held.radioSpoke()
        for count in 0..<40 {
            held.hold(packet.span, now: start, turnaroundMicroseconds: nil)
            held.release(isReported: count % 8 == 7)
        }
        #expect(held.isReporting)
    }
}
