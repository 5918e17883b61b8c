import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// The button, the signals, and tracking that is stopped.
@Suite struct DeviceButtonTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1000) }

    @Test func pressesAreTold() {
        var button = ButtonDecoder()
        #expect(button.update(isPressed: false, now: at(0)) == nil)
        #expect(button.update(isPressed: true, now: at(10)) == nil)
        #expect(button.nextDeadline == at(3010))
        #expect(button.update(isPressed: false, now: at(200)) == .short)
        #expect(button.nextDeadline == nil)
        #expect(button.update(isPressed: true, now: at(1200)) == nil)
        #expect(button.update(isPressed: false, now: at(1300)) == .double)
        // A third press begins a new count.
        #expect(button.update(isPressed: true, now: at(1400)) == nil)
        #expect(button.update(isPressed: false, now: at(1500)) == .short)
        #expect(button.update(isPressed: true, now: at(2501)) == nil)
        #expect(button.update(isPressed: false, now: at(2600)) == .short)
        #expect(button.update(isPressed: true, now: at(2700)) == nil)
        #expect(button.update(isPressed: true, now: at(5699)) == nil)
        #expect(button.update(isPressed: true, now: at(5700)) == .long)
        #expect(button.nextDeadline == nil)
        #expect(button.update(isPressed: true, now: at(60_000)) == nil)
        #expect(button.update(isPressed: false, now: at(60_001)) == nil)
        // The program looked only after the release.
        #expect(button.update(isPressed: true, now: at(61_000)) == nil)
        #expect(button.update(isPressed: false, now: at(64_000)) == .long)
    }

    /// The times at which the light changes, in milliseconds.
    @Test(arguments: [
        (.start, [0, 600]), (.stop, [0, 600, 1200, 1800, 2400, 3000]), (.success, [0, 100, 200, 300]),
        (.warning, [0, 100, 200, 300, 400, 500, 600, 700]), (.error, (0..<16).map { $0 * 100 }),
    ] as [(Signal, [Int64])]) func everySignalHasItsPattern(signal: Signal, changes: [Int64]) {
        var player = SignalPlayer()
        player.play(signal, now: at(0))
        var found: [Int64] = []
        var isOn = false
        for milliseconds in 0..<4000 as Range<Int64> where player.isOn(now: at(milliseconds)) != isOn {
            isOn.toggle()
            found.append(milliseconds)
        }
        #expect(found == changes)
        #expect(player.nextDeadline(now: at(50)) == at(changes[1]))
        #expect(player.nextDeadline(now: at(4000)) == nil)
    }

    @Test func onlyAWarningEndsAWarning() {
        var player = SignalPlayer()
        player.play(.warning, now: at(0))
        player.play(.success, now: at(50))
        #expect(player.isOn(now: at(650)))
        player.play(.error, now: at(660))
        #expect(player.isOn(now: at(2100)))
        player.play(.start, now: at(2200))
        #expect(player.isOn(now: at(2700)))
        player.sound(milliseconds: 5000, now: at(2800))
        #expect(player.isOn(now: at(7799)) && !player.isOn(now: at(7800)))
    }

    @Test func aLongPressStopsDurablyAndAnotherStarts() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 5500)
        #expect(bench.device.isGNSSWanted)
        try bench.press(milliseconds: 3100)
        #expect(!bench.device.collar.isTracking)
        #expect(!bench.device.isGNSSWanted)
        #expect(bench.device.newestSignal?.signal == .stop)
        let count = bench.logged.count
        _ = bench.takeSent()
        try bench.run(milliseconds: 70_000)
        #expect(bench.logged.count == count)
        let status = try #require(bench.statuses.last)
        #expect(!status.isTracking && status.gnssState == .off)
        #expect(status.trackingSinceUnixSeconds == 1_700_000_008)
        try bench.device.restart(randomLogID: 9, now: bench.now)
        #expect(!bench.device.collar.isTracking && !bench.device.isGNSSWanted)
        try bench.press(milliseconds: 3100)
        #expect(bench.device.collar.isTracking && bench.device.isGNSSWanted)
        #expect(bench.device.newestSignal?.signal == .start)
        try bench.run(milliseconds: 3000)
        #expect(bench.logged.count > count)
        #expect(bench.device.collar.nextSequence == UInt32(bench.logged.count))
    }

    @Test func aShortPressMakesAFixEvenWhenStopped() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 1500)
        try bench.command(1, .stopTracking)
        try bench.run(milliseconds: 60_500)
        let count = bench.logged.count
        try bench.press()
        #expect(bench.device.isGNSSWanted)
        _ = bench.takeSent()
        try bench.run(milliseconds: 2000)
        #expect(bench.logged.count == count + 1)
        #expect(!bench.device.isGNSSWanted)
        #expect(bench.device.newestSignal?.signal == .success)
        #expect(bench.sent.first?.at == bench.logged.last)
    }

    @Test func twoPressesOpenPairing() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 1500)
        #expect(bench.device.collar.pairedReceiverID == 77)
        try bench.press()
        try bench.run(milliseconds: 10_000)
        try bench.command(1, .pair(receiverID: 5), by: 5)
        #expect(bench.device.collar.pairedReceiverID == 77)
        try bench.press()
        try bench.run(milliseconds: 300)
        try bench.press()
        try bench.command(2, .pair(receiverID: 5), by: 5)
        #expect(bench.device.collar.pairedReceiverID == 5)
    }

    @Test func theBatteryWarnsOnceForEachLevel() throws {
        var bench = try DeviceBench()
        var signals: [Signal?] = []
        var last = bench.device.newestSignal?.start
        for percent in [90, 21, 20, 19, 21, 20, 10, 9, 8, 10, 9, 30, 20] as [UInt8] {
            try bench.run(milliseconds: 5000)
            bench.device.batteryRead(BatteryReading(percent: percent), now: bench.now)
            let newest = bench.device.newestSignal
            signals.append(newest?.start == last ? nil : newest?.signal)
            last = newest?.start
        }
        #expect(signals == [nil, nil, .warning, nil, nil, nil, nil, .warning, nil, nil, nil, nil, .warning])
    }
}
