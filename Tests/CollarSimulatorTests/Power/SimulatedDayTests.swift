import CollarARQ
import CollarFirmware
import CollarWire
import Testing

@testable import CollarSimulator

/// A day of the shipping program costs what its schedule promises.
@Suite struct SimulatedDayTests {
    /// What a day costs at an interval between fixes: seconds, and frames.
    struct Expected: Sendable {
        let fixSeconds: UInt32
        let fixes: Int
        let gnss: Double
        let probes: Int
        let sending: Double
    }

    static let expected = [
        Expected(fixSeconds: 60, fixes: 1440, gnss: 11_850, probes: 0, sending: 237),
        Expected(fixSeconds: 180, fixes: 480, gnss: 4170, probes: 0, sending: 79),
        Expected(fixSeconds: 900, fixes: 96, gnss: 1095, probes: 192, sending: 47),
        Expected(fixSeconds: 3600, fixes: 24, gnss: 520, probes: 264, sending: 47),
    ]

    /// The airtime at SF9 of an answer that names no ranges, in microseconds.
    private static let answerMicroseconds: Int64 = 164_864

    @Test(arguments: expected)
    func aDayCostsWhatItsScheduleSays(_ expected: Expected) throws {
        let day = try SimulatedDay(DaySetup(fixSeconds: expected.fixSeconds))
        day.run(until: hours(24))
        let statistics = day.statistics
        #expect(abs(statistics.fixes - expected.fixes) <= 1 && day.arrivals.count == statistics.fixes)
        // Receiver on: a search for each fix, and twelve times 35 s for the orbits.
        #expect(statistics.gnssMicroseconds.seconds <= expected.gnss)
        #expect(abs(statistics[.probe].frames - expected.probes) <= 2)
        let traffic = statistics[.fixes].sendingMicroseconds + statistics[.probe].sendingMicroseconds
        #expect(abs(traffic.seconds - expected.sending) <= 0.02 * expected.sending)
        // The identity, and a power report every six hours.
        #expect(statistics[.report].frames <= 6 && statistics[.report].sendingMicroseconds.seconds <= 1.5)
        // The radio listens for the turnaround and for the answer, and for nothing else.
        #expect(statistics.listeningMicroseconds == Int64(statistics.exchanges) * (75_000 + Self.answerMicroseconds))
        #expect(statistics.strayListeningMicroseconds == 0)
        #expect(statistics.failures == 0 && statistics.searches >= statistics.fixes)
    }

    /// Two detections of four symbols each, which take 4.096 ms at SF9.
    @Test func sensingTheChannelCostsEightSymbolsForEachExchange() throws {
        var listening: [Int64] = []
        var charges: [Double] = []
        for sensesChannel in [false, true] {
            let day = try SimulatedDay(DaySetup(fixSeconds: 180) { $0.sensesChannel = sensesChannel })
            day.run(until: hours(24))
            let statistics = day.statistics
            #expect(statistics.fixes == 480 && statistics.strayListeningMicroseconds == 0)
            listening.append(statistics.listeningMicroseconds - Int64(statistics.exchanges) * (75_000 + Self.answerMicroseconds))
            charges.append(PowerBudget(statistics, .default, capacity: 500).total)
            if sensesChannel { #expect(listening[1] == Int64(statistics.exchanges) * 8 * 4096) }
        }
        #expect(listening[0] == 0)
        #expect(charges[1] > charges[0] && charges[1] < 1.01 * charges[0])
    }

    @Test func theSumsAreTheDay() throws {
        let day = try SimulatedDay(
            DaySetup(fixSeconds: 180) {
                $0.plan = DayPlan([0: Surroundings(), 6: Surroundings(sky: .roof), 12: Surroundings(sky: .trees, isMoving: false)])
                $0.lossProbability = 0.2
            })
        day.run(until: hours(24))
        let statistics = day.statistics
        #expect(statistics.microseconds == hours(24).microseconds && statistics.supplyMicroseconds == statistics.microseconds)
        #expect(statistics[.backup] > 0 && statistics[.searching] > 0 && statistics[.collecting] > 0 && statistics.failures > 0)
        #expect(statistics.strayListeningMicroseconds == 0)
        // The collar counts the same as its board.
        #expect(abs(Int64(day.powerReport.gnssSeconds) - statistics.gnssMicroseconds / 1_000_000) <= 1)
        day.submit(.command(.reportPower))
        while day.receivedPowerReport?.uptimeSeconds ?? 0 < 86_400, day.now < hours(25) {
            day.run(until: day.now.advanced(byMicroseconds: 100_000))
        }
        let report = try #require(day.receivedPowerReport)
        // After it was written, the radio listened for its answer.
        #expect((0...500).contains(day.statistics.listeningMicroseconds / 1000 - Int64(report.listeningMilliseconds)))
    }

    @Test func aBaseThatAnswersAfterTheWindowIsNotHeard() throws {
        var setup = DaySetup(fixSeconds: 180, Setting(.turnaroundMilliseconds, 75))
        setup.turnaroundMicroseconds = 900_000
        let day = try SimulatedDay(setup)
        day.run(until: hours(1))
        // Each fix arrives, and is sent again and again.
        #expect(day.arrivals.count == day.statistics.fixes && day.statistics.exchanges > 100)
        setup.settings[2].value = 900
        let patient = try SimulatedDay(setup)
        patient.run(until: hours(1))
        #expect(patient.statistics.exchanges <= 24 && patient.statistics.longestSilenceMicroseconds > 0)
    }

    @Test func aCollarWithoutAScheduleIsAlwaysOn() throws {
        var setup = DaySetup()
        setup.settings = []
        let day = try SimulatedDay(setup)
        day.run(until: hours(0.5))
        let statistics = day.statistics
        #expect(statistics[.tracking] > hours(0.49).microseconds)
        #expect(statistics.cyclicMicroseconds > hours(0.48).microseconds && statistics.fullTrackingMicroseconds == 0)
        #expect(statistics.fixes > 1700)
    }
}
