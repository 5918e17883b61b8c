import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// The firmware of a collar in virtual time, with a random schedule, sky, motion, battery and random requests, over a half-duplex link that
/// loses frames. Each supply of the receiver, each fix, each time in which the radio listens, and each silence is compared with
/// what PROTOCOL.md says, which is computed here from the inputs alone.
package struct ScheduleTrial {
    /// A request that the host repeats until the collar has it.
    struct Wish {
        let id: UInt16
        let content: Content

        enum Content {
            case command(Command.Action)
            case settings([SettingKey: UInt32])
            case report
        }
    }

    private static let stepCount = 300
    private static let longestMicroseconds: Int64 = 30 * 3_600_000_000
    static let receiverID: UInt32 = 77

    var device: CollarDevice<MemoryFlash>
    var random: SeededRandom
    var now: Int64 = 0
    var radio: ScheduleRadio
    var expected = ExpectedSupply()
    var violation: String?

    // MARK: What is known of the collar

    /// The settings by key; 0 where a value does not count here.
    private var settings = [UInt32](repeating: 0, count: Int(SettingKey.count) + 1)
    var isTracking = true
    var findEnd: Int64?
    var locateEnd: Int64?
    private var charge: UInt8 = 80
    private var lastMotion: Int64?
    private(set) var bootTime: Int64 = 0
    private(set) var awakeMicroseconds: Int64 = 0
    /// The times of the fixes that were logged, by sequence.
    private(set) var logged: [Int64] = []
    /// The time of the fix that was logged last since the boot.
    private var lastLogged: Int64?
    /// How many statuses have a reason, and how many were sent.
    var statusReasons = 2
    var statuses = 0

    // MARK: The surroundings

    private var sky: SimulatedSky
    private var nextReading: Int64?
    private let hasSensor: Bool
    private let tellsSatellites: Bool
    private var isMoving = false
    private var stayBegin: Int64?
    private var toldState = Status.GNSSState.off
    private var nextMotion: Int64 = 0
    private var nextAction: Int64 = 5_000_000
    private var latitude: Int32 = 473_000_000

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x5343_4845_4400_0001)
        sky = SimulatedSky(seed: random.next())
        hasSensor = random.below(2) == 0
        tellsSatellites = random.below(2) == 0
        radio = ScheduleRadio(lossPercent: random.below(3) * 15)
        for (key, value) in ScheduleTrial.defaults { settings[Int(key.rawValue)] = value }
        let delivery = CollarDelivery.Configuration(modem: ScheduleRadio.modem)
        do throws(FlashError) {
            device = try CollarDevice(
                starting: .ofTrial(delivery), flash: MemoryFlash(blockByteCount: 2048, blockCount: 8), cause: .powerOn, randomLogID: 77,
                now: Instant(microseconds: 0))
        } catch { preconditionFailure("a new flash does not fail") }
        wish(.settings(randomSettings(ScheduleTrial.searchKeys)))
        wish(.settings(randomSettings(ScheduleTrial.otherKeys)))
    }

    /// The first rule that a seed breaks; nil if it breaks none.
    package static func rule(brokenBy seed: UInt64) -> String? {
        var trial = ScheduleTrial(seed: seed)
        return trial.run()
    }

    private mutating func run() -> String? {
        turn()
        for _ in 0..<ScheduleTrial.stepCount where violation == nil && now < ScheduleTrial.longestMicroseconds {
            var next = min(nextAction, radio.nextEvent ?? .max, nextReading ?? .max, hasSensor ? nextMotion : .max)
            next = min(next, device.nextDeadline(now: instant, isSending: radio.isSending)?.microseconds ?? .max)
            awakeMicroseconds += 7000
            device.wasAwake(microseconds: 7000)
            now = max(now, next)
            turn()
        }
        return violation.map { "\($0), at \(now) us" }
    }

    var instant: Instant { Instant(microseconds: now) }

    mutating func broken(_ rule: String) { violation = violation ?? rule }

    // MARK: Settings

    private static let defaults: [(SettingKey, UInt32)] = [
        (.heartbeatSeconds, 60),
        (.lowBatteryCaptureIntervalMilliseconds, 5000), (.fixIntervalMilliseconds, 0), (.restFixIntervalMilliseconds, 0),
        (.searchTimeoutSeconds, 60), (.enoughAccuracyCentimeters, 2000), (.restHeartbeatSeconds, 0), (.outOfReachSeconds, 0),
        (.searchWaitSeconds, 3600), (.settlingSeconds, 10),
    ]
    /// Settings that are changed together, and the values that they may get.
    private static let searchKeys: [(SettingKey, [UInt32])] = [
        (.fixIntervalMilliseconds, [3000, 12_000, 20_000, 60_000, 180_000, 180_000, 900_000, 3_600_000, 14_400_000]),
        (.searchTimeoutSeconds, [10, 30, 60, 120]), (.searchWaitSeconds, [0, 300, 1800, 3600, 20_000]), (.settlingSeconds, [0, 3, 10, 20]),
        (.enoughAccuracyCentimeters, [0, 700, 1200, 2000, 3000]),
    ]
    private static let otherKeys: [(SettingKey, [UInt32])] = [
        (.restFixIntervalMilliseconds, [0, 60_000, 600_000, 3_600_000, 21_600_000]), (.restHeartbeatSeconds, [0, 30, 120, 600]),
        (.outOfReachSeconds, [0, 30, 120, 300]), (.heartbeatSeconds, [60, 60, 45]),
        (.lowBatteryCaptureIntervalMilliseconds, [5000, 60_000]),
    ]

    private mutating func randomSettings(_ keys: [(SettingKey, [UInt32])]) -> [SettingKey: UInt32] {
        var chosen: [SettingKey: UInt32] = [:]
        for (key, values) in keys { chosen[key] = values[random.below(values.count)] }
        return chosen
    }

    func setting(_ key: SettingKey) -> Int64 { Int64(settings[Int(key.rawValue)]) }

    mutating func set(_ values: [SettingKey: UInt32]) { for (key, value) in values { settings[Int(key.rawValue)] = value } }

    /// Whether the value of a setting is known.
    static func knows(_ key: SettingKey) -> Bool { defaults.contains { $0.0 == key } }

    var isFinding: Bool { findEnd.map { now < $0 } ?? false }

    /// Whether the collar is at rest. Without a sensor only its fixes show that; the detector has tests of its own.
    var isAtRest: Bool { hasSensor ? lastMotion.map { now - $0 >= 300_000_000 } ?? false : device.collar.condition?.isStationary ?? false }

    /// The time between two fixes, in microseconds.
    var interval: Int64 {
        var interval = setting(.fixIntervalMilliseconds)
        if isAtRest, setting(.restFixIntervalMilliseconds) > 0 {
            let blind = hasSensor ? .max : max(interval, 900_000)
            interval = min(setting(.restFixIntervalMilliseconds), blind)
        }
        if interval > 0, charge <= 20 { interval = max(interval, setting(.lowBatteryCaptureIntervalMilliseconds)) }
        return 1000 * interval
    }

    var demand: ExpectedSupply.Demand {
        guard isTracking || isFinding || locateEnd != nil else { return .nothing }
        return isFinding || locateEnd != nil || interval == 0 ? .always : .every(interval)
    }

    // MARK: Time

    /// Everything that happens now.
    private mutating func turn() {
        if let end = locateEnd, now >= end { locateEnd = nil }
        reachDeadlines()
        if hasSensor { readMotion() }
        if now >= nextAction { act() }
        if let due = nextReading, now >= due { read() }
        exchange()
        // A deadline that is due now may follow from what was done.
        for _ in 0..<5 where (device.nextDeadline(now: instant, isSending: radio.isSending) ?? Instant(microseconds: .max)) <= instant {
            reachDeadlines()
            exchange()
        }
        if let deadline = device.nextDeadline(now: instant, isSending: radio.isSending), deadline <= instant {
            broken("a deadline that is reached stays")
        }
        judge()
        guard expected.begin != stayBegin else { return }
        stayBegin = expected.begin
        nextReading = stayBegin.map { $0 + 1000 * random.between(100, 1000) }
        if let stayBegin { sky.begin(at: stayBegin, isCold: expected.isCold) }
    }

    private mutating func reachDeadlines() {
        do throws(FlashError) { try device.deadlineReached(now: instant) } catch { broken("the flash fails") }
        follow()
    }

    /// Lets the expected receiver do what is due.
    mutating func follow() {
        expected.rules = ExpectedSupply.Rules(
            timeout: 1_000_000 * setting(.searchTimeoutSeconds), longestWait: 1_000_000 * setting(.searchWaitSeconds),
            enoughMillimeters: UInt32(10 * setting(.enoughAccuracyCentimeters)), settling: 1_000_000 * setting(.settlingSeconds))
        while let position = expected.advance(to: now, demand) { log(position) }
    }

    /// A position that the schedule chooses is logged if the interval of a receiver that is always on has passed, or if it was asked for.
    private mutating func log(_ position: ExpectedSupply.Position) {
        follow()
        var spacing: Int64 = 0
        if !isFinding {
            switch demand {
            case .every(let interval): spacing = expected.isEndless ? interval / 1000 : 0
            default: spacing = charge <= 20 ? setting(.lowBatteryCaptureIntervalMilliseconds) : 0
            }
        }
        let isDue = lastLogged.map { position.unixMilliseconds - $0 + 50 >= spacing } ?? true
        guard isDue && (isTracking || isFinding) || locateEnd != nil else { return }
        logged.append(position.unixMilliseconds)
        lastLogged = position.unixMilliseconds
        locateEnd = nil
        follow()
    }

    private mutating func readMotion() {
        if now >= nextMotion {
            // A collar moves for some minutes, and rests for some more.
            if random.below(8) == 0 { isMoving.toggle() }
            nextMotion = now + 1_000_000 * (isMoving ? random.between(20, 200) : random.between(60, 600))
        }
        let (wasAtRest, wasOn) = (isAtRest, device.gnssSupply == .on)
        if isMoving || lastMotion == nil { lastMotion = now }
        if isMoving, wasAtRest { expected.moves() }
        device.motionRead(isMoving: isMoving, now: instant)
        if isMoving, wasAtRest, !wasOn, demand != .nothing, device.gnssSupply != .on { broken("motion after a rest leaves \(device.gnssSupply)") }
        follow()
    }

    /// A second of a receiver that is on.
    private mutating func read() {
        nextReading = now + 1_000_000
        if tellsSatellites {
            let count = sky.satellites(at: now)
            expected.hears(satellites: Int(count))
            device.satellitesHeard(count: count, now: instant)
            follow()
        }
        guard expected.isOn else { return }
        guard let accuracy = sky.accuracy(at: now) else { return tell(.searching) }
        if isMoving || !hasSensor && random.below(40) == 0 { latitude += 3000 }
        let unixMilliseconds = 1_700_000_000_000 + now / 1000
        let reading = GNSSReading(
            unixMilliseconds: unixMilliseconds, latitudeE7: latitude, longitudeE7: 85_000_000, horizontalAccuracyMillimeters: accuracy)
        do throws(FixLogError) { _ = try device.gnssRead(reading, now: instant) } catch { broken("a fix is not logged: \(error)") }
        tell(.fix)
        if expected.failuresInRow >= 3 { statusReasons += 1 }
        let position = ExpectedSupply.Position(unixMilliseconds: unixMilliseconds, accuracyMillimeters: accuracy)
        if let chosen = expected.takes(position, at: now, demand) { log(chosen) }
        follow()
    }

    /// The receiver tells whether it makes positions. While it is always on, each change is worth a status.
    private mutating func tell(_ state: Status.GNSSState) {
        if state != toldState, demand == .always { statusReasons += 1 }
        toldState = state
        device.gnssChanged(to: state, fault: nil, now: instant)
    }

    // MARK: Actions

    mutating func wish(_ content: Wish.Content) { radio.wish(content) }

    private mutating func act() {
        nextAction = now + 1_000_000 * (random.below(3) == 0 ? random.between(1, 60) : random.between(60, 1500))
        switch random.below(16) {
        case 0...2: wish(.command(.find(seconds: UInt16(random.below(10) == 0 ? 0 : random.between(5, 150)))))
        case 3, 4: wish(.command(.locateNow))
        case 5, 6: wish(.command(isTracking ? .stopTracking : .startTracking))
        case 7: wish(.settings(randomSettings(ScheduleTrial.searchKeys)))
        case 8: wish(.settings(randomSettings(ScheduleTrial.otherKeys)))
        case 9: wish(.report)
        case 10, 11: wish(.command(.reportPower))
        case 12:
            charge = [5, 15, 80, 80][random.below(4)]
            statusReasons += 1
            device.batteryRead(BatteryReading(percent: charge), now: instant)
            follow()
        case 13: radio.isInReach.toggle()
        case 14: if random.below(3) == 0 { reboot() }
        default: radio.isInReach = true
        }
    }

    /// The microcontroller starts again: what is not in the flash is forgotten.
    private mutating func reboot() {
        do throws(FlashError) { try device.restart(randomLogID: 1, now: instant) } catch { return broken("the flash fails") }
        let rules = expected.rules
        expected = ExpectedSupply()
        expected.rules = rules
        findEnd = nil
        locateEnd = nil
        lastMotion = nil
        nextReading = nil
        charge = 100
        bootTime = now
        awakeMicroseconds = 0
        lastLogged = nil
        statusReasons += 2
        radio.boots(at: now, heartbeatSeconds: heartbeatSeconds)
        follow()
    }
}
