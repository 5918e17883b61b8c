import CollarFirmware
import CollarWire
import Testing

/// The table of throttling: how often fixes are sent, and how often they are made.
@Suite struct DeviceThrottleTests {
    /// A charge of the battery, whether the collar moves, and the interval between newest fixes that follows, in milliseconds.
    struct Row: Sendable {
        let percent: UInt8?
        let isMoving: Bool
        let milliseconds: Int64
        let state: Status.ThrottleState
    }

    static let rows = [
        Row(percent: nil, isMoving: true, milliseconds: 500, state: .none),
        Row(percent: 100, isMoving: true, milliseconds: 500, state: .none),
        Row(percent: 21, isMoving: true, milliseconds: 500, state: .none),
        Row(percent: 21, isMoving: false, milliseconds: 500, state: .none),
        Row(percent: 20, isMoving: true, milliseconds: 1000, state: .lowBattery),
        Row(percent: 20, isMoving: false, milliseconds: 2000, state: .lowBattery),
        Row(percent: 10, isMoving: true, milliseconds: 1000, state: .lowBattery),
        Row(percent: 10, isMoving: false, milliseconds: 2000, state: .lowBattery),
        Row(percent: 9, isMoving: true, milliseconds: 5000, state: .criticalBattery),
        Row(percent: 9, isMoving: false, milliseconds: 5000, state: .criticalBattery),
        Row(percent: 0, isMoving: true, milliseconds: 5000, state: .criticalBattery),
    ]

    /// A bench whose receiver is paired and whose collar has moved, or rested, long enough. Every reading becomes a fix.
    private func bench(percent: UInt8?, isMoving: Bool) throws -> DeviceBench {
        var bench = try DeviceBench()
        bench.device.batteryRead(BatteryReading(percent: percent), now: bench.now)
        bench.readingMicroseconds = 100_000
        // 2.2 m in a second.
        bench.stepE7 = isMoving ? 20 : 0
        try bench.run(milliseconds: 1000)
        try bench.set([.lowBatteryCaptureIntervalMilliseconds: 100])
        try bench.run(milliseconds: 39_000)
        _ = bench.takeSent()
        return bench
    }

    /// The times between the bursts of frames with fixes, in milliseconds.
    private func intervals(_ sent: [DeviceBench.Sent]) -> [Int64] {
        let times = sent.filter { [.liveFix, .absoluteFix, .batch].contains($0.type) }.map(\.at.microseconds)
        let bursts = Set(times).sorted()
        return zip(bursts.dropFirst(), bursts).map { ($0 - $1) / 1000 }
    }

    @Test(arguments: rows) func newestFixesKeepTheInterval(row: Row) throws {
        var bench = try bench(percent: row.percent, isMoving: row.isMoving)
        let first = bench.device.collar.nextSequence
        try bench.run(milliseconds: 40_000)
        let sent = bench.takeSent()
        let intervals = intervals(sent)
        // Readings come every 100 ms, so a burst comes with the first reading after the interval, or exactly at its end.
        #expect(intervals.allSatisfy { $0 >= row.milliseconds && $0 <= row.milliseconds + 100 }, "\(intervals)")
        #expect(intervals.count >= Int(40_000 / (row.milliseconds + 100)) - 1)
        // The others are not left out: all 400 arrive.
        #expect(bench.device.collar.nextSequence == first + 400)
        #expect(bench.device.collar.firstUndelivered + UInt32(row.milliseconds / 100) + 1 >= bench.device.collar.nextSequence)
        #expect(sent.contains { $0.type == .batch })
        // A status tells it.
        try bench.receive { output, _ throws(EncodeError) in
            try IdentityRequest(receiverID: 77).encode(address: 9, into: &output)
        }
        try bench.run(milliseconds: 61_000)
        let status = try #require(bench.statuses.last)
        #expect(status.throttleState == row.state)
        #expect(status.isStationary == !row.isMoving)
        #expect(status.batteryPercent == row.percent)
    }

    @Test func atAnyBatteryASettingSlowsAStationaryCollar() throws {
        var bench = try bench(percent: 80, isMoving: false)
        try bench.set([.stationaryIntervalMilliseconds: 4000])
        try bench.run(milliseconds: 10_000)
        _ = bench.takeSent()
        try bench.run(milliseconds: 40_000)
        #expect(intervals(bench.sent).allSatisfy { $0 >= 4000 && $0 <= 4100 })
        #expect(intervals(bench.sent).count >= 8)
        // It moves again, and is heard from every half second.
        bench.stepE7 = 100
        try bench.run(milliseconds: 5000)
        _ = bench.takeSent()
        try bench.run(milliseconds: 10_000)
        #expect(intervals(bench.sent).count >= 15)
    }

    @Test(arguments: [(21, 60), (20, 12), (10, 12), (9, 12), (nil, 60)] as [(UInt8?, Int)])
    func aLowBatteryMakesFewerFixes(percent: UInt8?, count: Int) throws {
        var bench = try DeviceBench()
        bench.device.batteryRead(BatteryReading(percent: percent), now: bench.now)
        #expect(bench.device.readingIntervalMilliseconds == (count == 60 ? 1000 : 5000))
        try bench.run(milliseconds: 60_000)
        #expect(bench.logged.count == count)
    }

    @Test(arguments: [(100, 100), (10_000, 10_000), (10_001, 5000), (60_000, 10_000), (86_400_000, 10_000)] as [(UInt32, UInt16)])
    func theReceiverIsReadAsOftenAsItCan(setting: UInt32, milliseconds: UInt16) throws {
        var bench = try DeviceBench()
        try bench.run(milliseconds: 100)
        bench.device.batteryRead(BatteryReading(percent: 15), now: bench.now)
        try bench.set([.lowBatteryCaptureIntervalMilliseconds: setting])
        #expect(bench.device.readingIntervalMilliseconds == milliseconds)
    }

    // 3 m arrives as 2.882 m, 7.4 m as 7.436 m and 8 m as 8.105 m.
    @Test(arguments: [(7400, false), (8000, true), (nil, true)] as [(UInt32?, Bool)])
    func aChangeOfAccuracyIsSentAtOnce(accuracy: UInt32?, isSent: Bool) throws {
        var bench = try bench(percent: 9, isMoving: false)
        bench.readingMicroseconds = 1_000_000
        try bench.run(milliseconds: 5000)
        _ = bench.takeSent()
        // Until just after a burst: the next one is due in nearly 5 s.
        while !bench.sent.contains(where: { $0.type == .batch }) { try bench.run(milliseconds: 10) }
        _ = bench.takeSent()
        bench.reading.horizontalAccuracyMillimeters = accuracy
        try bench.run(milliseconds: 1100)
        #expect(bench.sent.contains { $0.type == .liveFix } == isSent)
        _ = bench.takeSent()
        // The same accuracy again is no change.
        try bench.run(milliseconds: 1000)
        #expect(!bench.sent.contains { $0.type == .liveFix })
    }

    @Test func aUsedUpDutyCycleIsTold() throws {
        // A frame of 51 bytes takes 102 ms: 36 s an hour are about 350 of them.
        var bench = try DeviceBench(
            dutyCyclePartsPerMillion: 10_000,
            modem: .init(
                nanosecondsPerByte: 2_000_000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: 40_000, isHalfDuplex: true))
        try bench.run(milliseconds: 600_000)
        #expect(bench.statuses.contains { $0.throttleState == .dutyCycle })
        #expect(bench.statuses.last?.throttleState == .dutyCycle)
    }
}

/// When a collar counts as stationary.
@Suite struct MotionDetectorTests {
    private func fix(_ seconds: Int64, latitudeE7: Int32 = 0, longitudeE7: Int32 = 0) -> Fix {
        Fix(
            sequence: 0, unixMilliseconds: 1_700_000_000_000 + seconds * 1000, positionStep: .e7, latitudeSteps: latitudeE7,
            longitudeSteps: longitudeE7)
    }

    private func isStationary(_ fixes: [Fix], centimeters: UInt32 = 500, seconds: UInt32 = 30) -> Bool {
        var detector = MotionDetector()
        for fix in fixes { detector.note(fix, distanceCentimeters: centimeters, seconds: seconds) }
        return detector.isStationary
    }

    @Test func itTakesTheWholeTime() {
        #expect(!isStationary([fix(0)]))
        #expect(!isStationary([fix(0), fix(29)]))
        #expect(isStationary([fix(0), fix(29), fix(30)]))
        #expect(isStationary([fix(0), fix(30)]))
        #expect(!isStationary([fix(0), fix(30)], seconds: 31))
        #expect(!isStationary([fix(100), fix(50), fix(79)]))
        #expect(isStationary([fix(100), fix(50), fix(80)]))
    }

    /// The length of a degree is 111.195 km on a sphere of 6371 km; along a parallel it is multiplied by the cosine of the
    /// latitude. The distances are 1 % below and above 5 m.
    @Test(arguments: [0, 45, 60, -60, 89] as [Double], [0, 30, 90, 200] as [Double])
    func theDistanceIsTheSameInEveryDirection(latitude: Double, bearing: Double) {
        let (north, east) = (DegreeMath.cosine(bearing), DegreeMath.cosine(bearing - 90))
        for (meters, isNear) in [(4.95, true), (5.05, false)] {
            let moved = fix(
                30, latitudeE7: Int32(latitude * 1e7) + Int32(meters * north / 0.011_119_5),
                longitudeE7: 100 + Int32(meters * east / 0.011_119_5 / DegreeMath.cosine(latitude)))
            let start = fix(0, latitudeE7: Int32(latitude * 1e7), longitudeE7: 100)
            #expect(isStationary([start, moved]) == isNear, "\(meters) m at \(latitude)° to \(bearing)°")
        }
    }

    @Test func theAntimeridianIsNoObstacle() {
        let west = fix(0, longitudeE7: 1_800_000_000 - 100)
        #expect(isStationary([west, fix(30, longitudeE7: -1_800_000_000 + 100)]))
        #expect(!isStationary([west, fix(30, longitudeE7: -1_800_000_000 + 1000)]))
        #expect(!isStationary([fix(0, latitudeE7: -900_000_000), fix(30, latitudeE7: 900_000_000)], centimeters: 100_000))
    }

    @Test func aSlowDriftIsAMovement() {
        let drift = (0..<100).map { fix($0, latitudeE7: Int32($0) * 20) }
        #expect(!isStationary(drift))
        // After the last movement the time begins again.
        #expect(isStationary(drift + [fix(129, latitudeE7: 99 * 20)]))
    }

    @Test func coarseStepsCountAsWell() {
        var here = fix(0)
        (here.positionStep, here.latitudeSteps) = (.e5, 4_730_000)
        var there = here
        there.unixMilliseconds += 30_000
        there.latitudeSteps += 4
        #expect(isStationary([here, there]))
        there.latitudeSteps += 1
        #expect(!isStationary([here, there]))
    }
}

/// The cosine, from its series: independent of the code under test.
enum DegreeMath {
    static func cosine(_ degrees: Double) -> Double {
        let x = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
        var (term, sum) = (1.0, 1.0)
        for n in 1...20 {
            term *= -x * x / Double(2 * n * (2 * n - 1))
            sum += term
        }
        return sum
    }
}
