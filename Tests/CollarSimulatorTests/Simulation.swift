import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// Both ends in virtual time.
struct Simulation {
    private let scenario: Scenario
    private let fixes: [Fix]
    private let flash: CuttableFlash
    private var random: SeededRandom
    private var station: SharedRadio<CuttableFlash>
    private var now = Instant(microseconds: 0)
    private var answers: [(due: Instant, bytes: [UInt8])] = []
    private var isDamageDue: Bool
    private(set) var outcome: Outcome

    init(_ scenario: Scenario, seed: UInt64) throws {
        self.scenario = scenario
        fixes = Scenario.track(scenario.fixCount, seed: seed)
        flash = CuttableFlash(blockByteCount: 512, blockCount: scenario.blockCount)
        random = SeededRandom(seed: seed)
        isDamageDue = scenario.damage
        outcome = Outcome(host: TestHost(), torn: [], now: now)
        station = try Self.boot(scenario, fixes: fixes, flash: flash, random: &random, now: now)
    }

    private static func boot(
        _ scenario: Scenario, fixes: [Fix], flash: CuttableFlash, random: inout SeededRandom, now: Instant
    ) throws -> SharedRadio<CuttableFlash> {
        flash.stepsLeft = nil
        let configuration = Collar<CuttableFlash>.Configuration(
            deviceID: 0xABC, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            delivery: CollarDelivery.Configuration(
                burstFrameCount: 6, heartbeatMicroseconds: 5_000_000, maximumTimeoutMicroseconds: 2_000_000,
                modem: Scenario.modem))
        let collar = try Collar(
            booting: configuration, flash: flash, randomLogID: UInt32(truncatingIfNeeded: random.next()), now: now)
        let radio = LossyRadio(
            lossProbability: scenario.loss, corruptionProbability: scenario.corruption, seed: random.next())
        let station = CollarRadioStation(
            collar: collar, address: 9, radio: radio, modem: Scenario.modem,
            track: SimulatedTrack(fixes: fixes, pace: scenario.interval), start: now)
        return SharedRadio([station], modem: Scenario.modem)
    }

    var isFinished: Bool {
        get throws { station.isDelivered && !isDamageDue && !outcome.host.isSomethingLost }
    }

    private mutating func reboot() throws {
        outcome.reboots += 1
        station = try Self.boot(scenario, fixes: fixes, flash: flash, random: &random, now: now)
    }

    mutating func step() throws {
        outcome.steps += 1
        now = max(now, min(station.nextDeadline, answers.first?.due ?? Instant(microseconds: .max)))
        deliverAnswers()
        try runCollar()
        if random.chance(scenario.reboot) { try reboot() }
        if random.chance(scenario.hostCrash) {
            outcome.crashes += 1
            outcome.host.crash()
        }
        if isDamageDue, station.isDelivered {
            isDamageDue = false
            outcome.host.loseDurable { $0 % 5 == 2 }
        }
    }

    private mutating func deliverAnswers() {
        while let first = answers.first, first.due <= now {
            answers.removeFirst()
            station.received(first.bytes, now: now)
        }
    }

    private mutating func runCollar() throws {
        if random.chance(scenario.powerCut) { flash.stepsLeft = Int.random(in: 0..<60, using: &random) }
        let bytes: [UInt8]
        do throws(StationError) { bytes = try station.advance(to: now) } catch {
            if case .log(_, let index) = error { outcome.torn.insert(UInt32(index)) }
            try reboot()
            return
        }
        outcome.host.received(bytes)
        if !random.chance(scenario.lateCommit) { outcome.host.commit() }
        guard let answer = outcome.host.answer() else { return }
        let delay = random.chance(scenario.lateAnswer) ? Int64.random(in: 0..<2_000_000, using: &random) : 1000
        answers.append((now.advanced(byMicroseconds: delay), answer))
        answers.sort { $0.due < $1.due }
    }

    consuming func finish() -> Outcome {
        outcome.isDelivered = station.isDelivered
        outcome.now = now
        return outcome
    }
}
