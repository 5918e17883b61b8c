import CollarARQ
import CollarSimulator
import CollarWire
import RadioModems

/// Everything about a ``World`` that is decided before it starts. It comes from a seed; parts can be changed afterwards, so
/// that a finding can be made small.
package struct WorldPlan: Equatable, Sendable {
    /// The seed of the run's random numbers.
    package var seed: UInt64
    /// The kinds of faults that happen.
    package var faults: FaultSet
    /// Number of collars, 1 … 4.
    package var collarCount: Int
    /// Whether the link is half-duplex: a station that sends hears nothing, and two frames on the air at once destroy each
    /// other.
    package var isHalfDuplex: Bool
    /// Timing of the radio.
    package var modem: ModemProfile
    /// The most frames of a burst, which ends with a poll.
    package var burstFrameCount: Int
    /// The longest silence of a collar, in microseconds.
    package var heartbeatMicroseconds: Int64
    /// The longest time-out of a collar, in microseconds.
    package var maximumTimeoutMicroseconds: Int64
    /// The largest frame, 51 … 253 bytes.
    package var maximumFrameByteCount: Int
    /// Bytes in an erase block of the flash.
    package var blockByteCount: Int
    /// Erase blocks of the flash.
    package var blockCount: Int
    /// How long faults happen, in microseconds; then the world is calm.
    package var turbulentMicroseconds: Int64
    /// How long the calm may last before everything must have arrived, in microseconds. An old request is repeated only every
    /// eight minutes, and half of the repetitions may be lost.
    package var calmMicroseconds: Int64 = 10_800_000_000
    /// Probability that a frame is lost in the calm, 0 … 0.2.
    package var calmLoss: Double
    /// The most fixes of each collar.
    package var fixLimit: Int
    /// Mean time between two fixes, in microseconds.
    package var fixIntervalMicroseconds: Int64
    /// The radio while faults happen.
    package var channel: ChannelPlan
    /// Mean time between two faults of a kind, in microseconds.
    package var faultIntervalMicroseconds: Int64
    /// Probability that a program or erase fails, if ``FaultKind/flashErrors`` is among the faults.
    package var flashFailureProbability: Double
    /// The part of every hour in which a collar may send, in millionths; nil for no limit.
    package var dutyCyclePartsPerMillion: Int64?
    /// The most airtime a collar may use in any hour, in microseconds; nil for no bound.
    package var hourlyAirtimeLimitMicroseconds: Int64?
    /// Losses among the first 64 frames, counted over both directions: if bit n is set, frame n is lost. For exhaustive scopes.
    package var scriptedLosses: UInt64 = 0
    /// Steps of the first collar's flash after which its power fails once; nil for never.
    package var scriptedPowerCut: Int?
    /// Events after which the first host crashes once; nil for never.
    package var scriptedHostCrash: Int?
    /// File operations of the first host before the one in which it crashes once; nil for never.
    package var scriptedDiskStop: Int?
    /// File operations of the first host before the one that finds the disk full; nil for none.
    package var scriptedFullDisk: Int?
    /// The sequence at which each collar starts, approximately. It has delivered all lower ones to another receiver before.
    package var firstSequence: UInt32 = 0
    /// Whether all frames of collars, and all of hosts but identity requests, are sealed.
    var isSealed: Bool { faults.contains(.sealing) }
    /// Number of named readers of each host.
    package var readerCount = 1
    /// Whether hosts with ``FaultKind/removal`` also remove what a consumer has not taken.
    package var removesUnread = false
    /// The time of day when the world begins, in milliseconds since 1970. A host removes only what it received in 2026 or later.
    var startUnixMilliseconds: Int64 { faults.contains(.removal) ? 1_800_000_000_000 : 1_700_000_000_000 }
    /// Number of radios of each host.
    package var radioCount: Int { faults.contains(.severalRadios) ? 2 : 1 }

    /// What the base radios speak in a world of ``FaultKind/radioSticks``, and the settings of all radios there.
    package var stickDialect = Dialect.kiss
    package var stickSettings = RadioSettings.ofTrial(spreadingFactor: 7)
    /// Whether the base radios are sticks with other firmware.
    var hasSticks: Bool { isHalfDuplex && faults.contains(.radioSticks) }

    /// Whether the machine loses power in a scripted crash of the host; otherwise its process is killed.
    package var scriptedCrashLosesPower = false

    /// The plan of a seed.
    package init(seed: UInt64) {
        var random = SeededRandom(seed: seed ^ 0x504C_414E)
        self.seed = seed
        faults = WorldPlan.someFaults(&random)
        // These kinds draw from a generator of their own, so that adding them did not change the rest of each seed's plan.
        var later = SeededRandom(seed: seed ^ 0x1A7E_12)
        for kind in [FaultKind.stateRemoval, .foreignFiles, .retention, .receiverMove, .messages] where later.chance(0.15) {
            faults.insert(kind)
        }
        if later.chance(0.3) { faults.insert(.sealing) }
        // A host that loses its keys while it runs must not listen to a hostile sender.
        if faults.isSuperset(of: [.sealing, .hostileSender]), later.chance(0.2) { faults.insert(.stateRemoval) }
        // A user who replaces the state directory in the middle of an exchange can lose the only copy of a key.
        if faults.contains(.sealing), faults.isDisjoint(with: [.stateRollback, .stateRemoval, .receiverMove]), later.chance(0.9) {
            faults.insert(.keyExchange)
        }
        // With keys, two machines must not use one nonce for different frames.
        if later.chance(faults.contains(.sealing) ? 0.2 : 0.1) { faults.insert(.clonedHost) }
        collarCount = random.chance(0.6) ? 1 : 2 + random.below(3)
        isHalfDuplex = random.chance(0.5)
        modem = WorldPlan.modems[random.below(WorldPlan.modems.count)]
        burstFrameCount = [1, 3, 6, 16][random.below(4)]
        heartbeatMicroseconds = [5_000_000, 20_000_000, 60_000_000][random.below(3)]
        maximumTimeoutMicroseconds = [2_000_000, 8_000_000, 30_000_000][random.below(3)]
        maximumFrameByteCount = [51, 120, 253][random.below(3)]
        blockByteCount = [512, 520, 1024][random.below(3)]
        blockCount = 7 + random.below(6)
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
        // So close below a multiple of 65,536 that the upper 16 bits of the sequences change during the run.
        if random.chance(0.1) { firstSequence = UInt32((1 + random.below(2)) << 16 - random.below(200)) }
        var stick = SeededRandom(seed: seed ^ 0x5717_C4)
        if isHalfDuplex, stick.chance(0.5) { useSticks(&stick) }
        var reading = SeededRandom(seed: seed ^ 0x4EAD_E4)
        if reading.chance(0.4) { faults.insert(.readers) }
        readerCount = 1 + reading.below(2)
        // The oracle does not know what a removed segment held if the segment was removed from another disk or is damaged.
        let replacements: FaultSet = [.storageDamage, .stateRollback, .stateRemoval, .receiverMove, .clonedHost]
        if faults.isDisjoint(with: replacements), reading.chance(0.5) { faults.insert(.removal) }
        removesUnread = reading.chance(0.3)
    }

    /// Puts a stick of one dialect into each port. The collars have the stick's settings, and wait for the turnaround of its dialect.
    private mutating func useSticks(_ random: inout SeededRandom) {
        faults.insert(.radioSticks)
        // An RUI3 stick does not listen before it sends. The answers of two receivers to a collar that has none collide every time.
        let dialects: [Dialect] = faults.contains(.rivalReceiver) ? [.kiss, .rnode] : [.kiss, .rnode, .rui3]
        stickDialect = dialects[random.below(dialects.count)]
        stickSettings = .ofTrial(spreadingFactor: UInt8(7 + random.below(3)))
        modem = stickSettings.profile(of: stickDialect)
        // As with a LoRa modem.
        maximumTimeoutMicroseconds = 30_000_000
        calmMicroseconds = 14_400_000_000
    }

    /// Lets faults of the host's disk happen every few seconds, and removes losses from the radio, so that there is much to
    /// store.
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

    /// Uses a real LoRa modem, whose collars delay their bursts at random. Half of these worlds have a duty cycle.
    private mutating func useLoRa(_ random: inout SeededRandom) {
        modem = SimulatedModem.lora(spreadingFactor: UInt8(7 + random.below(3))).profile
        // As in the protocol. With a shorter cap, four collars would fill a slow channel with frames that nobody answers in
        // time.
        maximumTimeoutMicroseconds = 30_000_000
        calmMicroseconds = 14_400_000_000
        guard random.chance(0.5) else { return }
        let partsPerMillion: Int64 = random.chance(0.5) ? 50_000 : 100_000
        dutyCyclePartsPerMillion = partsPerMillion
        hourlyAirtimeLimitMicroseconds = 3600 * partsPerMillion
    }

    /// Makes enough fixes, and delays frames long enough, that the low bytes of the sequences repeat while old frames still
    /// arrive.
    private mutating func rush() {
        faults.insert(.liveForm)
        faults.insert(.delay)
        collarCount = 1
        isHalfDuplex = false
        modem = .serial(bitsPerSecond: 115_200)
        burstFrameCount = 16
        blockByteCount = 1024
        blockCount = 42
        fixLimit = 700
        fixIntervalMicroseconds = 25_000
        turbulentMicroseconds = 20_000_000
        channel.loss = min(channel.loss, 0.2)
        channel.delay = 0.1
        channel.maximumDelay = 12_000_000
    }

    /// Draws the share of the kinds first, and then whether each kind is in: a world with few kinds finds bugs that many faults
    /// hide.
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

    /// One collar, a perfect radio and few fixes: the basis of the exhaustive scopes.
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
        plan.blockCount = 7
        plan.calmLoss = 0
        plan.fixLimit = fixCount
        plan.fixIntervalMicroseconds = 150_000
        plan.turbulentMicroseconds = 500_000 + plan.fixIntervalMicroseconds * 3 / 2 * Int64(fixCount)
        return plan
    }

    /// The main properties of the plan, in one line.
    package var summary: String {
        let kinds = faults.kinds.map { "\($0)" }.joined(separator: " ")
        let duplex = hasSticks ? "sticks of \(stickDialect)" : isHalfDuplex ? "half duplex" : "full duplex"
        return """
            \(collarCount) collar(s), \(fixLimit) fixes each from \(firstSequence) on, \
            \(turbulentMicroseconds / 1000) ms of faults, \(duplex), bursts of \(burstFrameCount), flash \(blockCount) × \(blockByteCount); \
            faults: \(kinds.isEmpty ? "none" : kinds)
            """
    }
}
