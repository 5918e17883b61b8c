import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// What a GNSS receiver is told, and what becomes of its answers, in virtual time.
@Suite struct GNSSReceiverTests {
    private static let outputs: [UInt8] = [
        0, 1, 0, 0, 0x01, 0x00, 0x21, 0x30, 0xE8, 0x03, 0x07, 0x00, 0x91, 0x20, 1, 0x01, 0x00, 0x74, 0x10, 1, 0x02, 0x00, 0x74,
        0x10, 0,
    ]

    @Test func aReceiverOfGeneration10() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 10)
        #expect(bench.receiver.state == .off && bench.receiver.nextDeadline == nil)
        bench.switchOn()
        #expect(
            bench.commands == [
                ubx(6, 0x8A, Self.outputs),
                ubx(6, 0x8A, [0, 1, 0, 0, 0x21, 0x00, 0x11, 0x20, 3]),
                ubx(6, 0x8A, [0, 1, 0, 0, 0x01, 0x00, 0xD0, 0x20, 2]),
                GNSSBench<UBXParser>.radioStatus,
                ubx(6, 0x8A, [0, 1, 0, 0, 0x16, 0x00, 0x91, 0x20, 5]),
            ])
        #expect(bench.receiver.state == .searching)
        bench.run(seconds: 60)
        #expect(bench.commands.count == 5)
        let seconds: [Int64] = (0..<60).map { 1_800_000_000_000 + 1000 * $0 }
        #expect(bench.readings.map(\.unixMilliseconds) == seconds)
        #expect(bench.receiver.state == .fix && bench.receiver.fault == nil)
    }

    /// The checksum of the second message was computed by hand.
    @Test func aReceiverOfGeneration8() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 8)
        bench.switchOn()
        let power: [UInt8] = [1, 0, 0, 0, 0, 0x10, 2, 0, 0xE8, 3, 0, 0, 0x10, 0x27, 0, 0] + [UInt8](repeating: 0, count: 28)
        var expected = [
            ubx(6, 0x8A, Self.outputs),
            [0xB5, 0x62, 0x06, 0x08, 0x06, 0x00, 0xE8, 0x03, 0x01, 0x00, 0x00, 0x00, 0x00, 0x37],
            ubx(6, 0x24, [1, 0, 3] + [UInt8](repeating: 0, count: 33)),
            ubx(6, 0x3B, power),
            ubx(6, 0x11, [8, 1]),
            ubx(6, 1, [1, 7, 1]),
            GNSSBench<UBXParser>.hardwareStatus,
            ubx(6, 1, [1, 0x35, 5]),
        ]
        expected += (0..<6).map { ubx(6, 1, [0xF0, $0, 0]) }
        #expect(bench.commands == expected)
        bench.run(seconds: 20)
        #expect(bench.commands.count == 14)
        #expect(bench.readings.count == 20 && bench.receiver.fault == nil)
        #expect(!bench.isNMEAOn)
    }

    @Test func fullPower() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 8, isPowerSaved: false)
        bench.switchOn()
        #expect(bench.commands.contains(ubx(6, 0x11, [8, 0])))
        #expect(!bench.commands.contains { $0[2...3] == [6, 0x3B] })
        var newer = GNSSBench<UBXOrNMEAParser>(generation: 9, isPowerSaved: false)
        newer.switchOn()
        #expect(newer.commands[2] == ubx(6, 0x8A, [0, 1, 0, 0, 0x01, 0x00, 0xD0, 0x20, 0]))
    }

    @Test func aReceiverThatSpeaksNMEAOnly() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: nil)
        bench.switchOn()
        bench.run(seconds: 60)
        #expect(bench.commands.count == 5)
        #expect(bench.readings.count == 60)
        #expect(bench.receiver.fault == nil && bench.receiver.state == .fix)
        // It is asked again, five times each minute.
        bench.run(seconds: 60)
        #expect(bench.commands.count == 10)
        #expect(bench.readings.count == 120)
        var nmea = GNSSBench<NMEAParser>(generation: nil)
        nmea.switchOn()
        nmea.run(seconds: 120)
        #expect(nmea.commands.isEmpty && nmea.readings.count == 120)
    }

    /// RMC and GGA have come, GST never comes: the reading comes out 100 ms after the last byte.
    @Test func theReadingOfNMEAComesAfterAPause() {
        var bench = GNSSBench<NMEAParser>(generation: nil)
        bench.switchOn()
        bench.receive(sentence("GPRMC,080000.00,A,3351.4,S,01507.2,E,0.1,90,150127,,,A"))
        bench.advance(to: Instant(microseconds: 40_000))
        bench.receive(sentence("GPGGA,080000.00,3351.4,S,01507.2,E,1,8,1.0,25.4,M,30,M,,"))
        #expect(bench.receiver.nextDeadline == Instant(microseconds: 140_000))
        bench.advance(to: Instant(microseconds: 140_000))
        #expect(bench.readings.isEmpty)
        bench.advance(to: Instant(microseconds: 140_001))
        #expect(bench.readings.map(\.unixMilliseconds) == [1_800_000_000_000])
        #expect(bench.readings.first?.altitudeMillimeters == 25_400)
    }

    @Test func aSilentReceiverIsAFault() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 10)
        bench.isDead = true
        bench.switchOn()
        bench.advance(to: Instant(microseconds: 10_000_000))
        #expect(bench.receiver.fault == nil && bench.receiver.state == .searching)
        bench.advance(to: Instant(microseconds: 10_000_001))
        #expect(bench.receiver.fault == .gnssSilent && bench.receiver.state == .fault)
        bench.advance(to: Instant(microseconds: 60_000_001))
        #expect(bench.commands.count == 61)
        bench.isDead = false
        bench.run(seconds: 3)
        #expect(bench.receiver.fault == nil && bench.receiver.state == .fix)
        #expect(bench.isUBXOn && !bench.isNMEAOn)
    }

    @Test func aCommandThatIsNotHeardIsRepeated() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 10)
        bench.unheard = 3
        bench.switchOn()
        bench.run(seconds: 4)
        #expect(bench.commands.prefix(4).allSatisfy { $0 == ubx(6, 0x8A, Self.outputs) })
        #expect(bench.commands.count == 8)
        #expect(bench.isUBXOn)
        #expect(bench.readings.count == 4)
    }

    /// The receiver answers the first message and no other one: it is asked from the beginning again.
    @Test func anAnswerThatNeverComesBeginsTheConfigurationAgain() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 10)
        bench.switchOn()
        bench.receiver.change(
            to: GNSSSettings(intervalMilliseconds: 500, earliestDate: bench.receiver.settings.earliestDate), now: bench.now)
        bench.unheard = 1_000
        bench.commands = []
        bench.exchange()
        bench.receive(ubx(5, 1, [6, 0x8A]))
        bench.exchange()
        bench.advance(to: Instant(microseconds: 5_500_000))
        #expect(bench.commands.map(\.count) == [33, 17, 17, 17, 17, 17, 33])
        // An answer to another message changes nothing.
        bench.receive(ubx(5, 1, [6, 8]))
        bench.exchange()
        #expect(bench.commands.count == 7)
    }

    @Test func aRefusedDynamicModelIsAFault() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 8)
        bench.refused = [[6, 0x24]]
        bench.switchOn()
        bench.run(seconds: 3)
        #expect(bench.receiver.fault == .gnssFault && bench.receiver.state == .fix)
        #expect(bench.readings.count == 3 && bench.commands.count == 14)
        bench.refused = [[6, 0x11]]
        bench.receiver.change(
            to: GNSSSettings(isPowerSaved: false, earliestDate: bench.receiver.settings.earliestDate), now: bench.now)
        bench.exchange()
        #expect(bench.receiver.fault == nil, "a receiver that cannot save power has full power")
    }

    /// A fault of the antenna lasts until the receiver says another state, or is switched off.
    @Test(arguments: [8, 10]) func aFaultOfTheAntennaIsAFault(generation: Int) {
        var bench = GNSSBench<UBXParser>(generation: generation)
        func status(_ state: UInt8) -> [UInt8] {
            generation < 9
                ? ubx(0x0A, 0x09, [UInt8](repeating: 3, count: 20) + [state] + [UInt8](repeating: 4, count: 39))
                : ubx(0x0A, 0x38, [0, 1, 0, 0, 0, 0, state] + [UInt8](repeating: 3, count: 21))
        }
        bench.switchOn()
        bench.run(seconds: 3)
        for state in 0...255 as ClosedRange<UInt8> {
            bench.receive(status(state))
            #expect(bench.receiver.fault == ([3, 4].contains(state) ? .gnssFault : nil), "state \(state)")
            #expect(bench.receiver.state == .fix)
        }
        bench.receive(status(4))
        bench.run(seconds: 3)
        #expect(bench.receiver.fault == .gnssFault)
        bench.receiver.switchOff()
        bench.exchange()
        bench.switchOn()
        #expect(bench.receiver.fault == nil)
    }

    /// What a receiver refuses, it refuses after each pause: that is no new fault.
    @Test(arguments: [8, 10]) func aRefusalLastsOverAPause(generation: Int) {
        var bench = GNSSBench<UBXParser>(generation: generation)
        bench.refused = generation < 9 ? [[6, 0x3B]] : []
        bench.refusesPowerMode = generation > 8
        var faults: [CollarFault?] = []
        for _ in 0..<3 {
            bench.switchOn()
            bench.run(seconds: 3)
            faults.append(bench.receiver.fault)
            bench.receiver.switchOff(isPause: true)
            bench.exchange()
            faults.append(bench.receiver.fault)
            // It is told while the messages of the next configuration are still under way.
            bench.receiver.switchOn(now: bench.now)
            faults.append(bench.receiver.fault)
        }
        #expect(faults.allSatisfy { $0 == .gnssFault }, "\(faults)")
        (bench.refused, bench.refusesPowerMode) = ([], false)
        bench.exchange()
        bench.run(seconds: 3)
        #expect(bench.receiver.fault == nil, "it takes everything now")
    }

    @Test func theEndOfTheDemandForgetsAFault() {
        var bench = GNSSBench<UBXParser>(generation: 10)
        bench.refusesPowerMode = true
        bench.switchOn()
        bench.run(seconds: 3)
        bench.receiver.switchOff(isPause: true)
        bench.exchange()
        #expect(bench.receiver.fault == .gnssFault)
        bench.receiver.switchOff()
        #expect(bench.receiver.fault == nil)
    }

    /// The number belongs to the time since the receiver was switched on.
    @Test func theNumberOfSatellites() {
        var bench = GNSSBench<UBXParser>(generation: 10)
        bench.switchOn()
        #expect(bench.receiver.satelliteCount == nil)
        bench.receive(satellites([9, 10, 45]))
        #expect(bench.receiver.satelliteCount == 2)
        bench.receive(satellites([]))
        #expect(bench.receiver.satelliteCount == 0)
        bench.receiver.switchOff(isPause: true)
        bench.exchange()
        #expect(bench.receiver.satelliteCount == nil)
    }

    @Test(arguments: [8, 10]) func aReceiverThatDoesNotTellItsSatellitesIsNoFault(generation: Int) {
        var bench = GNSSBench<UBXParser>(generation: generation)
        bench.refusesSatellites = true
        bench.switchOn()
        bench.run(seconds: 3)
        #expect(bench.receiver.fault == nil && bench.readings.count == 3)
    }

    @Test(arguments: [8, 10]) func aReceiverThatDoesNotSayItsAntennaIsNoFault(generation: Int) {
        var bench = GNSSBench<UBXParser>(generation: generation)
        bench.refusesAntenna = true
        bench.switchOn()
        bench.run(seconds: 3)
        #expect(bench.receiver.fault == nil && bench.readings.count == 3)
        #expect(bench.commands.count == (generation < 9 ? 14 : 5))
    }

    @Test func aReceiverThatRestartsIsConfiguredAgain() {
        var bench = GNSSBench<UBXOrNMEAParser>(generation: 9)
        bench.switchOn()
        bench.run(seconds: 10)
        bench.restart()
        bench.run(seconds: 1)
        #expect(bench.commands.count == 10)
        #expect(bench.isUBXOn && !bench.isNMEAOn)
        // A board that reads UBX only notices that nothing comes.
        var ubxOnly = GNSSBench<UBXParser>(generation: 9)
        ubxOnly.switchOn()
        ubxOnly.run(seconds: 10)
        #expect(ubxOnly.readings.count == 10)
        ubxOnly.restart()
        ubxOnly.run(seconds: 10)
        #expect(ubxOnly.commands.count == 10 && ubxOnly.isUBXOn)
        #expect(ubxOnly.readings.count >= 15)
        #expect(ubxOnly.receiver.fault == nil)
    }

    @Test func offAndOn() {
        for (generation, payload) in [
            (10, [0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0]), (8, [0, 0, 0, 0, 2, 0, 0, 0]),
        ] as [(Int, [UInt8])] {
            var bench = GNSSBench<UBXOrNMEAParser>(generation: generation)
            bench.switchOn()
            bench.run(seconds: 2)
            bench.commands = []
            bench.receiver.switchOff()
            #expect(bench.receiver.isPowered, "the receiver must get its message first")
            bench.exchange()
            #expect(bench.commands == [ubx(2, 0x41, payload)])
            #expect(!bench.receiver.isPowered && bench.receiver.state == .off && bench.receiver.nextDeadline == nil)
            bench.run(seconds: 3)
            #expect(bench.readings.count == 2)
            bench.switchOn()
            bench.run(seconds: 2)
            #expect(bench.readings.count == 4 && bench.receiver.state == .fix)
        }
    }

    @Test func otherSettings() {
        var bench = GNSSBench<UBXParser>(generation: 10)
        bench.switchOn()
        var settings = bench.receiver.settings
        bench.receiver.change(to: settings, now: bench.now)
        bench.exchange()
        #expect(bench.commands.count == 5, "nothing has changed")
        (settings.intervalMilliseconds, settings.dynamicModel) = (5000, .airborne)
        bench.receiver.change(to: settings, now: bench.now)
        bench.exchange()
        #expect(bench.commands.count == 10)
        #expect(Array(bench.commands[5][14..<16]) == [0x88, 0x13])
        #expect(bench.commands[6][14] == 6)
    }

    @Test func datesThatAreTooEarly() {
        var bench = GNSSBench<UBXParser>(generation: 10)
        bench.switchOn()
        var fields = PVTFields()
        (fields.year, fields.month, fields.day) = (2007, 6, 1)
        bench.receive(fields.message)
        let rollover: Int64 = 1024 * 7 * 86_400_000
        #expect(bench.readings.map(\.unixMilliseconds) == [1_180_742_398_000 + rollover])
        fields.year = 1980
        bench.receive(fields.message)
        #expect(bench.readings.count == 1 && bench.receiver.state == .searching)
        bench.receive(PVTFields(flags: 0).message)
        #expect(bench.receiver.state == .searching)
    }
}
