import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// What a collar does when it starts, is told to do something, or meets a fault.
@Suite struct DeviceLifeTests {
    @Test(arguments: [
        (.powerOn, .none), (.external, .none), (.program, .none), (.lowVoltage, .lowVoltageReset), (.watchdog, .watchdogReset),
        (.fault(CrashRecord(programCounter: 0x1234)), .firmwareReset),
        (.fault(CrashRecord(isWatchdog: true, programCounter: 0x1234)), .watchdogReset),
    ] as [(ResetCause, CollarFault)]) func theFirstStatusTellsWhyItStarted(cause: ResetCause, fault: CollarFault) throws {
        var bench = try DeviceBench(cause: cause)
        try bench.run(milliseconds: 5000)
        #expect(bench.statuses.first?.lastError == fault)
    }

    @Test func aPowerOnOpensPairingAndAnotherStartDoesNot() throws {
        for (cause, receiver) in [(.powerOn, 5), (.watchdog, 77)] as [(ResetCause, UInt32)] {
            var bench = try DeviceBench(cause: cause)
            try bench.run(milliseconds: 1500)
            try bench.command(1, .pair(receiverID: 5), by: 5)
            #expect(bench.device.collar.pairedReceiverID == receiver)
        }
    }

    @Test func aCrashRecordSurvivesOnlyWhole() {
        for record in [CrashRecord(programCounter: 0), CrashRecord(isWatchdog: true, programCounter: 0xFFFF_FFFF)] {
            let words = record.words
            #expect(CrashRecord(words: words) == record)
            for word in 0..<3 {
                for bit in 0..<32 as Range<UInt32> {
                    var damaged = words
                    damaged[word] ^= 1 << bit
                    #expect(CrashRecord(words: damaged) == nil)
                }
            }
        }
        #expect(CrashRecord(words: [0, 0, 0]) == nil)
        #expect(CrashRecord(words: [0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF]) == nil)
    }

    @Test func aRebootIsReal() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 2500)
        try bench.command(7, .reboot)
        #expect(!bench.device.isResetDue(now: bench.now))
        try bench.run(milliseconds: 100)
        #expect(bench.results == [CommandResult(requestID: 7, outcome: .ok)])
        #expect(bench.device.isResetDue(now: bench.now))
        let bootCount = bench.device.collar.bootCount
        try bench.device.restart(randomLogID: 1, now: bench.now)
        #expect(!bench.device.isResetDue(now: bench.now))
        #expect(bench.device.collar.bootCount == bootCount + 1)
        _ = bench.takeSent()
        try bench.run(milliseconds: 1000)
        #expect(bench.sent.first?.type == .identity)
        #expect(try bench.command(7, .reboot) == .repeatedRequest(requestID: 7))
        #expect(bench.device.nextDeadline(now: bench.now, isSending: true) == nil)
    }

    @Test func aResetWaitsTenSecondsForItsReply() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 2500)
        bench.isInReach = false
        try bench.run(milliseconds: 1500)
        try bench.command(7, .reboot)
        try bench.run(milliseconds: 9999)
        #expect(!bench.device.isResetDue(now: bench.now))
        try bench.run(milliseconds: 1)
        #expect(bench.device.isResetDue(now: bench.now))
        #expect(bench.results.isEmpty)
    }

    @Test func changesAreToldAtMostOnceAMinute() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 2000)
        // It found its position.
        #expect(bench.statuses.map(\.gnssState) == [.fix])
        #expect(bench.statuses.first?.clock != nil)
        bench.device.batteryRead(BatteryReading(percent: 20, millivolts: 3600, celsius: -4), now: bench.now)
        bench.device.gnssChanged(to: .searching, fault: nil, now: bench.now)
        bench.readingMicroseconds = .max / 2
        try bench.run(milliseconds: 57_000)
        #expect(bench.statuses.count == 1)
        try bench.run(milliseconds: 4000)
        let status = try #require(bench.statuses.last)
        #expect(bench.statuses.count == 2)
        #expect(status.throttleState == .lowBattery && status.batteryPercent == 20)
        #expect(status.batteryMillivolts == 3600 && status.temperatureCelsius == -4)
        bench.device.gnssChanged(to: .fault, fault: .gnssSilent, now: bench.now)
        #expect(bench.device.newestSignal?.signal == .error)
        try bench.run(milliseconds: 61_000)
        #expect(bench.statuses.last?.gnssState == .fault && bench.statuses.last?.lastError == .gnssSilent)
    }

    @Test func aFixThatWasAskedForIsSentAtOnce() throws {
        var bench = try DeviceBench()
        bench.device.batteryRead(BatteryReading(percent: 5), now: bench.now)
        try bench.run(milliseconds: 6500)
        _ = bench.takeSent()
        try bench.command(3, .locateNow)
        #expect(try bench.command(4, .locateNow) == .command(requestID: 4, .locateNow))
        #expect(bench.device.readingIntervalMilliseconds == 1000)
        try bench.run(milliseconds: 1000)
        #expect(bench.sent.contains { $0.type == .liveFix && $0.at == bench.logged.last })
        #expect(bench.results == [
            CommandResult(requestID: 4, outcome: .busy), CommandResult(requestID: 3, outcome: .ok),
        ])
    }

    @Test func aPressWhileTheHostLocatesLeavesTheHostItsResult() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 1500)
        try bench.command(1, .stopTracking)
        bench.readingMicroseconds = 60_000_000
        try bench.run(milliseconds: 1500)
        try bench.command(2, .locateNow)
        try bench.press()
        #expect(try bench.command(3, .locateNow) == .command(requestID: 3, .locateNow))
        try bench.run(milliseconds: 60_000)
        #expect(bench.results.suffix(2) == [
            CommandResult(requestID: 3, outcome: .busy), CommandResult(requestID: 2, outcome: .ok),
        ])
        #expect(!bench.device.isGNSSWanted)
    }

    @Test func withoutAPositionAFixFailsAfterTwoMinutes() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 1500)
        try bench.command(1, .stopTracking)
        bench.readingMicroseconds = .max / 2
        try bench.run(milliseconds: 1500)
        try bench.command(2, .locateNow)
        try bench.run(milliseconds: 119_900)
        #expect(bench.device.isGNSSWanted)
        try bench.run(milliseconds: 200)
        #expect(!bench.device.isGNSSWanted)
        #expect(bench.results.last == CommandResult(requestID: 2, outcome: .timeout))
        // To stop ends the search as well.
        try bench.command(3, .locateNow)
        try bench.press(milliseconds: 3100)
        try bench.press(milliseconds: 3100)
        #expect(!bench.device.collar.isTracking && !bench.device.isGNSSWanted)
        #expect(bench.results.last == CommandResult(requestID: 3, outcome: .failed))
    }

    @Test func aSoundIsHeard() throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 2500)
        try bench.command(1, .sound(milliseconds: 700))
        #expect(bench.device.indication(now: bench.now) == Indication(isLit: true, isSounding: true))
        try bench.run(milliseconds: 699)
        #expect(bench.device.indication(now: bench.now).isSounding)
        try bench.run(milliseconds: 1)
        #expect(bench.device.indication(now: bench.now) == Indication())
        #expect(bench.results == [CommandResult(requestID: 1, outcome: .ok)])
    }

    @Test func aMessageOfTheApplicationDoesNotWait() throws {
        var bench = try DeviceBench()
        bench.device.batteryRead(BatteryReading(percent: 5), now: bench.now)
        try bench.run(milliseconds: 6500)
        _ = bench.takeSent()
        let data: [UInt8] = [1, 2]
        let message = ApplicationMessage(kind: .notice, code: 1, unixSeconds: 0, data: data.span)
        _ = try bench.device.log(try #require(message), now: bench.now)
        try bench.run(milliseconds: 10)
        #expect(bench.sent.map(\.type) == [.collarMessage])
    }

    @Test func stepsFollowTheSettings() throws {
        var bench = try DeviceBench()
        bench.reading.altitudeMillimeters = 1234
        bench.isInReach = false
        try bench.run(milliseconds: 10_000)
        bench.isInReach = true
        try bench.run(milliseconds: 10_500)
        try bench.set([.positionDigits: 7, .altitudeDigits: 1])
        bench.isInReach = false
        try bench.run(milliseconds: 10_000)
        let fixes = bench.sent.compactMap { if case .fix(let fix)? = $0.message { fix } else { nil } }
        #expect(fixes.first?.positionStep == .e5 && fixes.first?.altitudeSteps == 1)
        #expect(fixes.last?.positionStep == .e7 && fixes.last?.altitudeSteps == 12)
    }
}
