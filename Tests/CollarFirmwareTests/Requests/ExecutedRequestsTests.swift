import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// Power cuts at every step of the flash while a request is executed. After a reboot the request has taken effect completely or
/// not at all, and after a repeat it has taken effect.
@Suite struct RequestPowerCutTests {
    /// Cuts the power at every step of `request`. The active block of the settings store is nearly empty, nearly full or in
    /// between, and interrupted erases affect the front or the back of their block.
    private func atEveryCut(
        _ request: (inout CollarBench) throws -> Reception, sourceLocation: SourceLocation = #_sourceLocation,
        then check: (inout CollarBench) throws -> Void
    ) throws {
        var cuts = 0
        for filling in [0, 3, 8, 20, 26, 27, 28, 29, 30] as [UInt16] {
            for erasesFromBack in [false, true] {
                var start = try CollarBench.paired()
                for id in 0..<filling { _ = try start.command(1000 + id, .reboot, by: id % 3 == 0 ? 77 : 78) }
                for _ in 0..<filling { start = try start.rebooted() }
                start.shared.flash.erasesFromBack = erasesFromBack
                var whole = try start.rebooted()
                whole.shared.flash.clearHistory()
                _ = try request(&whole)
                let steps = whole.shared.flash.stepCount
                #expect(steps > 0, sourceLocation: sourceLocation)
                for step in 0..<steps {
                    var cut = try start.rebooted()
                    cut.shared.flash.stepsLeft = step
                    #expect(throws: FlashError.self, sourceLocation: sourceLocation) { try request(&cut) }
                    cut = try cut.rebooted()
                    _ = try cut.sendAll()
                    try check(&cut)
                    cuts += 1
                }
            }
        }
        #expect(cuts > 100, sourceLocation: sourceLocation)
    }

    @Test func settingsAreInForceWhollyOrNotAtAll() throws {
        try atEveryCut { try $0.update(5, version: 3, [1: 700, 4: 9000, 8: 30, 10: 1]) } then: { bench in
            let settings = bench.collar.settings
            let values = [
                settings[.intervalMilliseconds], settings[.criticalBatteryIntervalMilliseconds], settings[.heartbeatSeconds],
                settings[.altitudeDigits],
            ]
            #expect(settings.version == .defaults ? values == [500, 5000, 60, 0] : values == [700, 9000, 30, 1])
            #expect(settings.version == .defaults || settings.version == SettingsVersion(rawValue: 3))
            _ = try bench.update(5, version: 3, [1: 700, 4: 9000, 8: 30, 10: 1])
            #expect(reported(try bench.answered(), 5, version: 3)[4] == 9000)
        }
    }

    @Test func trackingStopsTogetherWithItsRecord() throws {
        try atEveryCut { try $0.command(5, .stopTracking) } then: { bench in
            let isDone = !bench.collar.isTracking
            let again = try bench.command(5, .stopTracking)
            #expect(again == (isDone ? .repeatedRequest(requestID: 5) : .command(requestID: 5, .stopTracking)))
            #expect(try bench.rebooted().collar.isTracking == false)
            #expect(try bench.answered() == [result(5, .ok)])
        }
    }

    @Test func thePairingChangesTogetherWithItsRecord() throws {
        try atEveryCut { try $0.command(5, .pair(receiverID: 99)) } then: { bench in
            let isDone = bench.collar.pairedReceiverID == 99
            #expect(isDone || bench.collar.pairedReceiverID == 77)
            #expect(bench.collar.firstUndelivered == (isDone ? 0 : 3))
            let again = try bench.command(5, .pair(receiverID: 99))
            #expect(again == (isDone ? .repeatedRequest(requestID: 5) : .command(requestID: 5, .pair(receiverID: 99))))
            let next = try bench.rebooted().collar
            #expect(next.pairedReceiverID == 99 && next.firstUndelivered == 0 && next.nextSequence == 3)
        }
    }

    @Test func whatTheFirmwareWasNotToldIsNotRemembered() throws {
        try atEveryCut { try $0.command(5, .reboot) } then: { bench in
            // If the record of the command is complete, the command counts as executed, because the collar has rebooted.
            let again = try bench.command(5, .reboot)
            #expect(again == .command(requestID: 5, .reboot) || again == .repeatedRequest(requestID: 5))
            #expect(try bench.answered() == [result(5, .ok)])
        }
    }

    @Test func anOutcomeIsTheOldOneOrTheNewOne() throws {
        for step in 0..<100 {
            var cut = try CollarBench.paired()
            _ = try cut.command(5, .locateNow)
            cut.shared.flash.stepsLeft = step
            do throws(FlashError) { try cut.collar.finish(requestID: 5, outcome: .unsupported) } catch {
                cut = try cut.rebooted()
                _ = try cut.sendAll()
                #expect(try cut.command(5, .locateNow) == .repeatedRequest(requestID: 5))
                let answer = try cut.answered()
                #expect(answer == [result(5, .failed)] || answer == [result(5, .unsupported)])
                continue
            }
            #expect(step > 5)
            return
        }
        Issue.record("the outcome is never written")
    }
}
