import CollarARQ
import CollarFirmware
import CollarHost
import CollarSimulator
import CollarWire

/// Measures what happens when several collars in reach of one base stick share a LoRa channel. Real collars and a real host run
/// in virtual time. Every frame that overlaps another is lost.
package struct ChannelTrial: Sendable {
    /// Number of collars.
    package var collarCount: Int
    /// When they make their fixes.
    package var phases = CollarPhases.random
    package var spreadingFactor: UInt8 = 9
    /// Number of fixes of each collar.
    package var fixCount = 100
    /// Time between two fixes, in seconds.
    package var secondsApart: Int64 = 60
    /// Probability that a frame is lost apart from collisions, in each direction, 0 … 1.
    package var lossProbability = 0.0
    /// When the host is restarted, in seconds; nil for never.
    package var restartSeconds: Int64?
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
        /// From three minutes after the restart of the host on: the frames of the collars, and those that collided.
        package var afterRestart = (frames: 0, collisions: 0)
        /// Whether all fixes were acknowledged.
        package var isComplete = false

        package static func == (left: Result, right: Result) -> Bool {
            left.whole == right.whole && left.secondHalf == right.secondHalf && left.afterRestart == right.afterRestart
        }
    }

    /// The time from a poll to its answer, in microseconds.
    private static let hostMicroseconds: Int64 = 5000
    /// The time after the last fix, in microseconds.
    private static let patienceMicroseconds: Int64 = 3_600_000_000
    /// How long a storm may last after the restart of the host, in microseconds.
    private static let stormMicroseconds: Int64 = 180_000_000

    /// Runs until everything is acknowledged, for at most an hour after the last fix.
    package func run() throws(StationError) -> Result {
        let modem = SimulatedModem.lora(spreadingFactor: spreadingFactor).profile
        let interval = secondsApart * 1_000_000
        var random = SeededRandom(seed: seed)
        let track = SimulatedTrack(
            fixes: SimulatedWalk.fixes(fixCount, secondsApart: secondsApart), pace: .interval(microseconds: interval))
        let first = Instant(microseconds: 10_000_000)
        var stations: [CollarRadioStation<MemoryFlash>] = []
        for index in 0..<collarCount {
            let start = first.advanced(
                byMicroseconds: phases.start(of: index, count: collarCount, intervalMicroseconds: interval, random: &random))
            let device: CollarDevice<MemoryFlash>
            do throws(FlashError) {
                device = try CollarDevice(
                    starting: .ofTrial(.ofTrial(modem, seed: random.next()), deviceID: DeviceID(rawValue: random.next()), address: UInt8(index + 1)),
                    flash: MemoryFlash(blockCount: fixCount / 100 + 10), cause: .external,
                    randomLogID: UInt32(truncatingIfNeeded: random.next()), now: start)
            } catch { throw .flash(error) }
            stations.append(
                try CollarRadioStation(
                    device: device, address: UInt8(index + 1),
                    radio: LossyRadio(lossProbability: lossProbability, corruptionProbability: 0, seed: random.next()),
                    modem: modem, track: track, start: start))
        }
        var radio = SharedRadio(stations, modem: modem)
        var host = ChannelHost(at: Instant(microseconds: 0))
        let end = first.advanced(byMicroseconds: Int64(fixCount + 1) * interval + Self.patienceMicroseconds)
        var restart = restartSeconds.map { first.advanced(byMicroseconds: $0 * 1_000_000) }
        var stormEnd: Instant?
        var result = Result()
        var now = Instant(microseconds: 0)
        while !radio.isDelivered, now < end {
            var next = radio.nextDeadline
            for other in [host.nextDeadline, restart, stormEnd] { if let other { next = min(next, other) } }
            // A step of at least a microsecond, so that a deadline that does not move cannot stop time.
            now = max(next, now.advanced(byMicroseconds: 1))
            if let due = restart, now >= due {
                (restart, stormEnd) = (nil, due.advanced(byMicroseconds: Self.stormMicroseconds))
                host.restart(at: now)
            }
            if let due = stormEnd, now >= due {
                stormEnd = nil
                result.afterRestart = (-radio.statistics.uplinkFrames, -radio.statistics.collisions)
            }
            host.receive(try radio.advance(to: now), at: now)
            let bytes = host.takeBytes(at: now)
            if !bytes.isEmpty { radio.receive(bytes, now: now) }
        }
        result.isComplete = radio.isDelivered
        result.whole = radio.statistics
        result.secondHalf = radio.secondHalf
        result.afterRestart.frames += result.whole.uplinkFrames
        result.afterRestart.collisions += result.whole.collisions
        return result
    }

    /// A host that takes some milliseconds for an answer, and may be restarted on the same disk.
    private struct ChannelHost {
        private let disk = SimulatedDisk(seed: 1)
        private var host: Host
        private var link: LinkID
        private var waiting: (bytes: [UInt8], due: Instant)?

        init(at now: Instant) {
            (host, link) = Self.start(disk, at: now)
            collectFrames(at: now)
        }

        private static func start(_ disk: SimulatedDisk, at now: Instant) -> (Host, LinkID) {
            var configuration = HostConfiguration(stateDirectory: "/state")
            configuration.selection.hasFixes = false
            do throws(HostError) {
                let host = try Host(configuration, fileSystem: disk, random: SeededRandom(seed: 1), at: InstantHost.time(now))
                let link = host.addLink(named: "radio")
                host.linkOpened(link, at: InstantHost.time(now))
                return (host, link)
            } catch { preconditionFailure("a sound disk takes a journal: \(error)") }
        }

        mutating func restart(at now: Instant) {
            waiting = nil
            disk.endProcess()
            (host, link) = Self.start(disk, at: now)
            collectFrames(at: now)
        }

        var nextDeadline: Instant? { [host.nextDeadline, waiting?.due].compactMap(\.self).min() }

        mutating func receive(_ bytes: [UInt8], at now: Instant) {
            let time = InstantHost.time(now)
            if !bytes.isEmpty { host.receive(bytes.span, on: link, at: time) }
            if let due = host.nextDeadline, now >= due { host.deadlineReached(at: time) }
            while host.commitNext(at: time) {}
            collectFrames(at: now)
        }

        private mutating func collectFrames(at now: Instant) {
            while let next = host.nextFrame() {
                let due = waiting?.due ?? now.advanced(byMicroseconds: ChannelTrial.hostMicroseconds)
                waiting = ((waiting?.bytes ?? []) + Channel.stuffed(next.frame), due)
            }
        }

        /// The bytes that are ready for the stick.
        mutating func takeBytes(at now: Instant) -> [UInt8] {
            guard let ready = waiting, now >= ready.due else { return [] }
            waiting = nil
            return ready.bytes
        }
    }
}
