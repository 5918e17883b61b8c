import CollarARQ
import CollarSimulator
import CollarWire

/// Everything about a ``World`` that is decided before it starts. A seed gives one; parts can be changed afterwards, so
/// that a finding can be made small.
package struct WorldPlan: Equatable, Sendable {
    /// What the random numbers of the run come from.
    package var seed: UInt64
    /// What goes wrong.
    package var faults: FaultSet
    /// Collars, 1 … 4.
    package var collarCount: Int
    /// Whether a station that sends does not hear, and two that send at once destroy each other.
    package var isHalfDuplex: Bool
    /// Timing of the radio.
    package var modem: ModemProfile
    /// Frames between two asks.
    package var burstFrameCount: Int
    /// The longest silence, in microseconds.
    package var heartbeatMicroseconds: Int64
    /// Cap of the time-out, in microseconds.
    package var maximumTimeoutMicroseconds: Int64
    /// The largest frame, 51 … 253 bytes.
    package var maximumFrameByteCount: Int
    /// Bytes in an erase block of the flash.
    package var blockByteCount: Int
    /// Erase blocks of the flash.
    package var blockCount: Int
    /// How long things go wrong, in microseconds; then the world is calm.
    package var turbulentMicroseconds: Int64
    /// How long the calm may last before everything must have arrived, in microseconds.
    package var calmMicroseconds: Int64 = 3_600_000_000
    /// Loss in the calm, 0 … 0.2.
    package var calmLoss: Double
    /// Fixes of each collar, at most.
    package var fixLimit: Int
    /// Mean time between two fixes, in microseconds.
    package var fixIntervalMicroseconds: Int64
    /// The radio while things go wrong.
    package var channel: ChannelPlan
    /// Mean time between two faults of a kind, in microseconds.
    package var faultIntervalMicroseconds: Int64
    /// Probability that a program or erase fails, where that is among the faults.
    package var flashFailureProbability: Double
    /// The part of every hour in which a collar may send, in millionths; nil for no limit.
    package var dutyCyclePartsPerMillion: Int64?
    /// The most airtime a collar may use in any hour, in microseconds; nil for no bound.
    package var hourlyAirtimeLimitMicroseconds: Int64?
    /// Which of the first frames, counted over both directions, are lost: bit n for the nth. For exhaustive scopes.
    package var scriptedLosses: UInt64 = 0
    /// After how many steps of the first collar's flash the power fails once; nil for never.
    package var scriptedPowerCut: Int?
    /// After how many events the host crashes once; nil for never.
    package var scriptedHostCrash: Int?
    /// At which of its file operations the host crashes once; nil for never.
    package var scriptedDiskStop: Int?
    /// Which of the first host's file operations finds the disk full; nil for none.
    package var scriptedFullDisk: Int?
    /// What each collar has delivered to another receiver in an earlier life: every sequence below this one, about.
    package var firstSequence: UInt32 = 0
    /// Radios of each host.
    package var radioCount: Int { faults.contains(.severalRadios) ? 2 : 1 }

    /// Whether the machine loses power in a scripted crash of the host; else its process is killed.
    package var scriptedCrashLosesPower = false

    /// The plan of a seed.
    package init(seed: UInt64) {
        var random = SeededRandom(seed: seed ^ 0x504C_414E)
        self.seed = seed
        faults = WorldPlan.someFaults(&random)
        // With numbers of their own: the others are as they were before these came.
        var later = SeededRandom(seed: seed ^ 0x1A7E_12)
        for kind in [FaultKind.stateRemoval, .foreignFiles, .retention, .receiverMove] where later.chance(0.15) { faults.insert(kind) }
        collarCount = random.chance(0.6) ? 1 : 2 + random.below(3)
        isHalfDuplex = random.chance(0.5)
        modem = WorldPlan.modems[random.below(WorldPlan.modems.count)]
        burstFrameCount = [1, 3, 6, 16][random.below(4)]
        heartbeatMicroseconds = [5_000_000, 20_000_000, 60_000_000][random.below(3)]
        maximumTimeoutMicroseconds = [2_000_000, 8_000_000, 30_000_000][random.below(3)]
        maximumFrameByteCount = [51, 120, 253][random.below(3)]
        blockByteCount = [512, 520, 1024][random.below(3)]
        blockCount = 5 + random.below(6)
        turbulentMicroseconds = random.between(5_000_000, 90_000_000)
        calmLoss = [0, 0.1, 0.2][random.below(3)]
        fixLimit = 20 + random.below(180)
        fixIntervalMicroseconds = [50_000, 200_000, 1_000_000][random.below(3)]
        faultIntervalMicroseconds = random.between(2_000_000, 30_000_000)
        flashFailureProbability = random.fraction(0.001, 0.05)
        channel = ChannelPlan()
        channel.loss = random.fraction(0.02, 0.6)
        channel.burstStart = random.fraction(0.01, 0.2)
        channel.burstEnd = random.fraction(0.05, 0.6)
        channel.duplication = random.fraction(0.01, 0.3)
        channel.delay = random.fraction(0.02, 0.3)
        channel.maximumDelay = [20_000, 500_000, 10_000_000][random.below(3)]
        channel.flips = random.fraction(0.01, 0.4)
        channel.truncation = random.fraction(0.01, 0.3)
        channel.noise = random.fraction(0.02, 0.5)
        if random.chance(0.05) { rush() }
        if isHalfDuplex, random.chance(0.4) { useLoRa(&random) }
        if random.chance(0.15) { useFailingDisks(&random) }
        // So near that the upper bits of the sequences change on the way.
        if random.chance(0.1) { firstSequence = UInt32((1 + random.below(2)) << 16 - random.below(200)) }
    }

    /// Something happens to the host's disk every second or so, and the radio lets pass what there is to store.
    private mutating func useFailingDisks(_ random: inout SeededRandom) {
        let kinds: [FaultKind] = [
            .hostCrashes, .hostPowerCuts, .syncFailures, .fullDisk, .diskErrors, .readOnlyDisk, .storageDamage,
            .slowConsumer,
        ]
        for kind in kinds where random.chance(0.75) { faults.insert(kind) }
        faults.remove(.loss)
        faults.remove(.burstLoss)
        faultIntervalMicroseconds = random.between(500_000, 4_000_000)
    }

    /// A modem as it is, whose collars delay their bursts by chance; every other one under a duty cycle.
    private mutating func useLoRa(_ random: inout SeededRandom) {
        modem = SimulatedModem.lora(spreadingFactor: UInt8(7 + random.below(3))).profile
        // Of the protocol: with a shorter one four collars keep a slow channel full with what nobody answers in time.
        maximumTimeoutMicroseconds = 30_000_000
        calmMicroseconds = 14_400_000_000
        guard random.chance(0.5) else { return }
        let partsPerMillion: Int64 = random.chance(0.5) ? 50_000 : 100_000
        dutyCyclePartsPerMillion = partsPerMillion
        hourlyAirtimeLimitMicroseconds = 3600 * partsPerMillion
    }

    /// So many fixes, and frames so late, that the low bits of their sequences come round.
    private mutating func rush() {
        faults.insert(.liveForm)
        faults.insert(.delay)
        collarCount = 1
        isHalfDuplex = false
        modem = .serial(bitsPerSecond: 115_200)
        burstFrameCount = 16
        blockByteCount = 1024
        blockCount = 40
        fixLimit = 700
        fixIntervalMicroseconds = 25_000
        turbulentMicroseconds = 20_000_000
        channel.loss = min(channel.loss, 0.2)
        channel.delay = 0.1
        channel.maximumDelay = 12_000_000
    }

    /// Each kind in a seed or not, and how many, is drawn too: a world with few kinds finds what a storm hides.
    private static func someFaults(_ random: inout SeededRandom) -> FaultSet {
        var faults = FaultSet()
        let share = random.fraction(0.1, 0.9)
        for kind in FaultKind.allCases.prefix(through: FaultKind.hostileSender.rawValue) where random.chance(share) {
            faults.insert(kind)
        }
        return faults
    }

    private static let modems: [ModemProfile] = [
        .serial(bitsPerSecond: 115_200),
        ModemProfile(nanosecondsPerByte: 100_000, frameOverheadMicroseconds: 500, turnaroundMicroseconds: 30_000),
        ModemProfile(nanosecondsPerByte: 800_000, frameOverheadMicroseconds: 6000, turnaroundMicroseconds: 60_000),
    ]

    /// One collar, a perfect radio, few fixes: where exhaustive scopes start.
    package static func small(fixCount: Int) -> WorldPlan {
        var plan = WorldPlan(seed: 1)
        plan.faults = FaultSet()
        plan.firstSequence = 0
        plan.collarCount = 1
        plan.isHalfDuplex = false
        plan.modem = .serial(bitsPerSecond: 115_200)
        plan.burstFrameCount = 3
        plan.heartbeatMicroseconds = 5_000_000
        plan.maximumTimeoutMicroseconds = 2_000_000
        plan.maximumFrameByteCount = 253
        plan.blockByteCount = 512
        plan.blockCount = 5
        plan.calmLoss = 0
        plan.fixLimit = fixCount
        plan.fixIntervalMicroseconds = 150_000
        plan.turbulentMicroseconds = 500_000 + plan.fixIntervalMicroseconds * 3 / 2 * Int64(fixCount)
        return plan
    }

    /// What sets the run apart, in one line.
    package var summary: String {
        let kinds = faults.kinds.map { "\($0)" }.joined(separator: " ")
        let duplex = isHalfDuplex ? "half duplex" : "full duplex"
        return """
            \(collarCount) collar(s), \(fixLimit) fixes each from \(firstSequence) on, \
            \(turbulentMicroseconds / 1000) ms of faults, \(duplex), bursts of \(burstFrameCount), flash \(blockCount) × \(blockByteCount); \
            faults: \(kinds.isEmpty ? "none" : kinds)
            """
    }
}
