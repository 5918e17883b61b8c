import CollarARQ
import CollarFirmware
import CollarHost
import CollarSimulator
import CollarWire
import RadioModems

/// Measures what happens when several collars in reach of base sticks share a LoRa channel. Real collars and real hosts run
/// in virtual time. Frames that overlap are lost.
package struct ChannelTrial: Sendable {
    /// The times at which collars make their fixes.
    package enum Fixes: Equatable, Sendable {
        /// At equal intervals.
        case regular
        /// By the schedule of a receiver that is switched on for each fix: it searches for 2 to 60 s, and for 30 % of the searches in vain.
        case searched
    }

    /// Number of collars.
    package var collarCount: Int
    /// When they make their fixes.
    package var phases = CollarPhases.random
    package var fixes = Fixes.regular
    package var spreadingFactor: UInt8 = 9
    /// Number of fixes of each collar.
    package var fixCount = 100
    /// Time between two fixes, in seconds.
    package var secondsApart: Int64 = 60
    /// The longest silence of a collar, in seconds.
    package var heartbeatSeconds: Int64 = 60
    /// Whether the radios of the collars sense the channel.
    package var sensesChannel = false
    /// The part of the pairs of collars that do not hear each other, 0 … 1.
    package var hiddenProbability = 0.0
    /// Whether a base receives the much stronger of two packets.
    package var hasCapture = false
    /// The most by which an interval is longer or shorter, in millionths. Each collar has a factor of its own.
    package var driftPartsPerMillion = 0.0
    /// Probability that a frame is lost apart from collisions, in each direction, 0 … 1.
    package var lossProbability = 0.0
    /// Number of hosts, each with a stick. The collars are paired with them in turn; each host hears all.
    package var hostCount = 1
    /// When the hosts are restarted, in seconds; nil for never.
    package var restartSeconds: Int64?
    /// The first collar begins so much later than the others, in seconds.
    package var latecomerSeconds: Int64 = 0
    /// The part of each hour in which the base may send, in millionths: it is a stick with MeshCore's modem, which keeps to that. Nil for
    /// a base of the serial line without a limit. Only with one host.
    package var baseDutyCyclePartsPerMillion: Int64?
    package var seed: UInt64

    /// Creates a trial of a hundred fixes, a minute apart, at SF9.
    package init(collarCount: Int, phases: CollarPhases, seed: UInt64) {
        self.collarCount = collarCount
        self.phases = phases
        self.seed = seed
    }

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// All fixes.
        package var whole = StationStatistics()
        /// The second half of the fixes, without the frames of the host.
        package var secondHalf = StationStatistics()
        /// The times from the making of the fixes of the second half until a host had them.
        package var hostDelays: [Int64] = []
        /// From a while after the restart of the host on: the frames of the collars, and those that collided.
        package var afterRestart = RestartCounts()
        /// Whether all fixes were acknowledged.
        package var isComplete = false
        /// Answers that were not sent because the duty cycle of the base was used up.
        package var droppedAnswers = 0
        /// How often the airtime of the base became short.
        package var airtimeShortages = 0
    }

    package struct RestartCounts: Equatable, Sendable {
        package var frames = 0
        package var collisions = 0
    }

    /// The time after the last fix, in microseconds.
    private static let patienceMicroseconds: Int64 = 3_600_000_000
    /// The time after the restart of the host that does not count, in microseconds.
    package var stormMicroseconds: Int64 = 180_000_000
    private static let first = Instant(microseconds: 10_000_000)
    private static let firstReceiverID: UInt32 = 100

    private var interval: Int64 { secondsApart * 1_000_000 }

    /// Runs until everything is acknowledged, for at most an hour after the last fix.
    package func run() throws(StationError) -> Result {
        let settings = RadioSettings.ofTrial(spreadingFactor: spreadingFactor)
        let dialect = baseDutyCyclePartsPerMillion == nil ? Dialect.serial : .kiss
        let modem = dialect == .serial ? SimulatedModem.lora(spreadingFactor: spreadingFactor).profile : settings.profile(of: dialect)
        var random = SeededRandom(seed: seed)
        var stations: [CollarRadioStation<KeptFlash>] = []
        for index in 0..<collarCount { stations.append(try station(index, modem: modem, dialect: dialect, random: &random)) }
        var radio = SharedRadio(
            stations, modem: modem, channel: dialect == .serial ? nil : settings, stick: dialect.makeStick(modem: modem, seed: seed),
            hearing: CollarHearing(
                collarCount: collarCount, hiddenProbability: hiddenProbability, hasCapture: hasCapture, seed: random.next()),
            seed: random.next())
        let stick = baseDutyCyclePartsPerMillion.map { ChannelHost.KISSStick(settings: settings, dutyCyclePartsPerMillion: $0) }
        var hosts = [ChannelHost(receiverID: Self.firstReceiverID, stick: stick, at: Instant(microseconds: 0))]
        for number in 1..<max(1, hostCount) {
            radio.addBase(SerialStick(modem: modem))
            hosts.append(ChannelHost(receiverID: Self.firstReceiverID + UInt32(number), at: Instant(microseconds: 0)))
        }
        // A collar that has searched in vain several times waits for up to an hour before it searches again.
        let longest = Int64(fixCount + 1) * secondsApart * (fixes == .searched ? 10 : 3)
        let end = Self.first.advanced(byMicroseconds: (latecomerSeconds + longest) * 1_000_000 + Self.patienceMicroseconds)
        var restart = restartSeconds.map { Self.first.advanced(byMicroseconds: $0 * 1_000_000) }
        var stormEnd: Instant?
        var result = Result()
        var arrivals = HostArrivals(collarCount: collarCount, firstSequence: UInt32(fixCount / 2))
        var now = Instant(microseconds: 0)
        while !radio.isDelivered, now < end {
            var next = radio.nextDeadline
            for other in hosts.map(\.nextDeadline) + [restart, stormEnd] { if let other { next = min(next, other) } }
            // A step of at least a microsecond, so that a deadline that does not move cannot stop time.
            now = max(next, now.advanced(byMicroseconds: 1))
            if let due = restart, now >= due {
                (restart, stormEnd) = (nil, due.advanced(byMicroseconds: stormMicroseconds))
                for index in hosts.indices { hosts[index].restart(at: now) }
            }
            if let due = stormEnd, now >= due {
                stormEnd = nil
                result.afterRestart = RestartCounts(frames: -radio.statistics.uplinkFrames, collisions: -radio.statistics.collisions)
            }
            var bytes = try radio.advance(to: now)
            for index in hosts.indices {
                if index > 0 { bytes = radio.takeOutput(of: index, now: now) }
                hosts[index].receive(bytes, at: now)
                if !bytes.isEmpty { arrivals.note(radio.stations, host: hosts[index], now: now) }
                let answer = hosts[index].takeBytes(at: now)
                if !answer.isEmpty { radio.receive(answer, at: index, now: now) }
            }
        }
        result.isComplete = radio.isDelivered
        result.droppedAnswers = hosts[0].answers.overBudget
        result.airtimeShortages = hosts[0].answers.shortages
        result.whole = radio.statistics
        result.secondHalf = radio.secondHalf
        result.hostDelays = arrivals.delays
        result.afterRestart.frames += result.whole.uplinkFrames
        result.afterRestart.collisions += result.whole.collisions
        return result
    }

    private func station(
        _ index: Int, modem: ModemProfile, dialect: Dialect, random: inout SeededRandom
    ) throws(StationError) -> CollarRadioStation<KeptFlash> {
        var start = Self.first.advanced(
            byMicroseconds: phases.start(of: index, count: collarCount, intervalMicroseconds: interval, random: &random))
        if index == 0 { start = start.advanced(byMicroseconds: latecomerSeconds * 1_000_000) }
        let drift = (Double(random.next() % 2001) / 1000 - 1) * driftPartsPerMillion / 1e6
        // The track of a collar that makes its fixes by a schedule gives only the positions.
        let pace = fixes == .regular ? Int64(Double(interval) * (1 + drift)) : 1 << 50
        let track = SimulatedTrack(
            fixes: fixes == .regular ? SimulatedWalk.fixes(fixCount, secondsApart: secondsApart) : SimulatedWalk.cat(fixCount), pace: .interval(microseconds: pace))
        var delivery = CollarDelivery.Configuration.ofTrial(modem, seed: random.next())
        delivery.sensesChannel = sensesChannel
        delivery.heartbeatMicroseconds = heartbeatSeconds * 1_000_000
        let configuration = Collar<KeptFlash>.Configuration.ofTrial(
            delivery, deviceID: DeviceID(rawValue: random.next()), address: UInt8(index + 1))
        let flash = KeptFlash(blockCount: fixCount / 50 + 12)
        let logID = UInt32(truncatingIfNeeded: random.next())
        if hostCount > 1 || fixes == .searched {
            do throws(PreparationError) {
                _ = try Collar.prepared(
                    on: flash, configuration, receiverID: Self.firstReceiverID + UInt32(index % hostCount),
                    settings: fixes == .searched
                        ? [Setting(key: SettingKey.fixIntervalMilliseconds.rawValue, value: UInt32(secondsApart * 1000))] : [],
                    randomLogID: logID, now: start)
            } catch { preconditionFailure("a new collar takes a receiver and settings: \(error)") }
        }
        let device: CollarDevice<KeptFlash>
        do throws(FlashError) {
            device = try CollarDevice(starting: configuration, flash: flash, cause: .external, randomLogID: logID, now: start)
        } catch { throw .flash(error) }
        return try CollarRadioStation(
            device: device, address: UInt8(index + 1),
            radio: LossyRadio(lossProbability: lossProbability, corruptionProbability: 0, seed: random.next()),
            modem: modem, dialect: dialect, track: track, start: start,
            search: SimulatedSearch(microseconds: 2_000_000...60_000_000, failureProbability: 0.3, seed: random.next()))
    }

    /// When a host had the fixes.
    private struct HostArrivals {
        /// Fixes below this sequence do not count.
        let firstSequence: UInt32
        /// The fixes of each collar that a host has and the collar counts as not acknowledged.
        private var arrived: [Set<UInt32>]
        private(set) var delays: [Int64] = []

        init(collarCount: Int, firstSequence: UInt32) {
            self.firstSequence = firstSequence
            arrived = Array(repeating: [], count: collarCount)
        }

        mutating func note(_ stations: [CollarRadioStation<KeptFlash>], host: ChannelHost, now: Instant) {
            for (index, station) in stations.enumerated() where !station.unacknowledged.isEmpty {
                let stored = host.stored(of: station.log)
                for fix in station.unacknowledged where fix.sequence >= firstSequence && stored.contains(fix.sequence) {
                    if arrived[index].insert(fix.sequence).inserted { delays.append(now.microseconds(since: fix.made)) }
                }
            }
        }
    }
}
