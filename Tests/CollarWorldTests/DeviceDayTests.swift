import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

@testable import CollarWorld

/// A day of a whole collar at one fix a second, eight hours of it out of contact, with the real host in virtual time.
@Suite struct DeviceDayTests {
    private static let modem = SimulatedModem.lora(spreadingFactor: 7).profile
    private static let outage: Range<Int64> = (8 * 3600)..<(16 * 3600)

    /// A collar with a flash of `blockCount` blocks, the host, and the link between them.
    private struct Day {
        var device: CollarDevice<MemoryFlash>
        let host: InstantHost
        var now = Instant(microseconds: 0)
        var random = SeededRandom(seed: 4)
        /// Number of readings so far.
        var seconds: Int64 = 0

        init(blockCount: Int) throws {
            device = try CollarDevice(
                starting: .ofTrial(.ofTrial(modem, seed: 4)), flash: MemoryFlash(blockCount: blockCount), cause: .powerOn,
                randomLogID: 77, now: now)
            host = InstantHost(knowing: device.collar.log)
        }

        /// Moves the clock, and gives the collar the readings of each second until then.
        mutating func wait(until instant: Instant) throws {
            while seconds < 86_400, seconds * 1_000_000 <= instant.microseconds {
                let turn = Int32(seconds % 600)
                let reading = GNSSReading(
                    unixMilliseconds: 1_700_000_000_000 + seconds * 1000, latitudeE7: 473_000_000 + 100 * min(turn, 600 - turn),
                    longitudeE7: 85_000_000 + 90 * turn, horizontalAccuracyMillimeters: 3000 + UInt32(seconds / 100 % 3) * 700,
                    speedMillimetersPerSecond: 1100)
                _ = try device.gnssRead(reading, now: Instant(microseconds: seconds * 1_000_000))
                seconds += 1
            }
            now = max(now, instant)
        }

        mutating func run(until end: Instant) throws {
            while now < end {
                var isFrame = false
                let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
                    isFrame = try device.nextFrame(now: now, into: &output)
                }
                guard isFrame else {
                    let reading = seconds < 86_400 ? Instant(microseconds: seconds * 1_000_000) : end
                    let next = min(reading, device.nextDeadline(now: now, isSending: false) ?? end)
                    try wait(until: max(next, now.advanced(byMicroseconds: 1)))
                    try device.deadlineReached(now: now)
                    continue
                }
                try wait(until: now.advanced(byMicroseconds: modem.airtimeMicroseconds(frameByteCount: frame.count)))
                device.frameSent(now: now)
                guard !outage.contains(now.microseconds / 1_000_000), !random.chance(0.1) else { continue }
                for answer in host.answers(to: frame, at: now) where !random.chance(0.1) {
                    try wait(until: now.advanced(byMicroseconds: modem.airtimeMicroseconds(frameByteCount: answer.count) + 5000))
                    _ = try device.receive(answer.span, now: now)
                }
            }
        }
    }

    /// The log holds 24 blocks more or less than eight hours of fixes: with the larger one nothing is lost.
    @Test(arguments: [(300, true), (200, false)]) func everythingThatTheLogHoldsArrives(blockCount: Int, isLargeEnough: Bool) throws {
        var day = try Day(blockCount: blockCount)
        try day.run(until: Instant(microseconds: Self.outage.upperBound * 1_000_000))
        let oldest = day.device.collar.identity.oldestSequence
        let before = try #require(day.host.stored.highest) + 1
        #expect(before > 28_000 && before <= 28_801)
        #expect((oldest <= before) == isLargeEnough)
        try day.run(until: Instant(microseconds: 90_000 * 1_000_000))
        let host = day.host.stored
        #expect(day.device.collar.nextSequence == 86_400)
        #expect(day.device.collar.isEverythingDelivered)
        // What arrived is all but what was overwritten during the outage, and the host has been told what that is.
        let lost = host.lost.ranges
        if isLargeEnough {
            #expect(lost.isEmpty)
            #expect(host.stored.ranges.map(\.first) == [0] && host.stored.ranges.map(\.last) == [86_399])
        } else {
            #expect(lost.count == 1 && lost[0].first >= before - 1 && lost[0].last < oldest + 113)
            #expect(host.stored.ranges.map(\.last) == [lost[0].first - 1, 86_399])
        }
        #expect(host.stored.count + host.lost.count == 86_400)
    }
}
