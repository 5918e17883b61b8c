import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import RadioModems

/// Measures what the fixes of a collar within reach cost through a base stick of a dialect, and how soon they are acknowledged.
/// A real collar, an emulated stick, the real modem at its port and a real host run in virtual time.
///
/// The stick is set up before the first fix is made. Its line, its listening before it sends, and collisions with the collar's
/// frames take their time; the host itself causes no delay.
package struct DialectTrial: Sendable {
    /// What the stick speaks.
    package var dialect: Dialect
    /// The settings of both radios.
    package var settings: RadioSettings
    /// Number of fixes.
    package var fixCount = 20
    /// Time between two fixes, in seconds, at least 1.
    package var secondsApart: Int64 = 10
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability = 0.0
    /// The turnaround for which the collar waits, in microseconds; nil for that of the dialect.
    package var collarTurnaroundMicroseconds: Int64?
    /// The seed of the losses, of the stick's chance and of the time of the first fix.
    package var seed: UInt64

    /// Creates a trial of 20 fixes, ten seconds apart, without losses.
    package init(_ dialect: Dialect, settings: RadioSettings, seed: UInt64) {
        self.dialect = dialect
        self.settings = settings
        self.seed = seed
    }

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Fixes made.
        package var fixCount = 0
        /// Frames of the collar.
        package var uplinkFrames = 0
        /// Frames of the host.
        package var downlinkFrames = 0
        /// Frames of the collar that a frame of the host destroyed.
        package var collisions = 0
        /// Airtime of the collar.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host.
        package var hostMicroseconds: Int64 = 0
        /// The time from the making of each fix to its acknowledgement.
        package var delays: [Int64] = []

        /// Whether all fixes were acknowledged.
        package var isComplete: Bool { delays.count == fixCount }
    }

    /// The longest time after the last fix.
    private static let patienceMicroseconds: Int64 = 600_000_000
    /// The stick is ready by then.
    private static let boot = Instant(microseconds: 10_000_000)

    /// Runs until everything is acknowledged.
    /// - Throws: if the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var profile = settings.profile(of: dialect)
        if let collarTurnaroundMicroseconds { profile.turnaroundMicroseconds = collarTurnaroundMicroseconds }
        var random = SeededRandom(seed: seed)
        let start = Self.boot.advanced(byMicroseconds: random.between(0, 1_000_000))
        let device: CollarDevice<MemoryFlash>
        do throws(FlashError) {
            device = try CollarDevice(
                starting: .ofTrial(.ofTrial(profile, seed: seed)), flash: MemoryFlash(blockCount: fixCount / 100 + 10),
                cause: .external, randomLogID: 77, now: start)
        } catch { throw .flash(error) }
        let host = InstantHost(knowing: device.collar.log)
        let track = SimulatedTrack(
            fixes: SimulatedWalk.fixes(fixCount, secondsApart: secondsApart),
            pace: .interval(microseconds: secondsApart * 1_000_000))
        let station = try CollarRadioStation(
            device: device, address: 9,
            radio: LossyRadio(lossProbability: lossProbability, corruptionProbability: 0, seed: random.next()),
            modem: profile, dialect: dialect, track: track, start: start)
        let radio = SharedRadio(
            [station], modem: profile, channel: settings, stick: dialect.makeStick(modem: profile, seed: random.next()),
            seed: random.next())
        var bench = StickTrialBench(radio, host: host, dialect: dialect, settings: settings)
        var result = Result()
        result.fixCount = fixCount
        let end = track.due(at: fixCount - 1, startingWith: 0, at: start)
            .advanced(byMicroseconds: Self.patienceMicroseconds)
        while !bench.radio.isDelivered, bench.now < end {
            try bench.step()
            while result.delays.count < Int(bench.radio.stations[0].firstUndelivered) {
                let made = track.due(at: result.delays.count, startingWith: 0, at: start)
                result.delays.append(bench.now.microseconds(since: made))
            }
        }
        let statistics = bench.radio.statistics
        result.uplinkFrames = statistics.uplinkFrames
        result.downlinkFrames = statistics.downlinkFrames
        result.collisions = statistics.collisions
        result.collarMicroseconds = statistics.airtimeMicroseconds
        result.hostMicroseconds = statistics.downlinkAirtimeMicroseconds
        return result
    }
}

/// A host whose modem drives the stick of a shared radio, in virtual time.
private struct StickTrialBench {
    private(set) var radio: SharedRadio<MemoryFlash>
    private(set) var now = Instant(microseconds: 0)
    private let host: InstantHost
    private var modem: RadioModem

    init(_ radio: SharedRadio<MemoryFlash>, host: InstantHost, dialect: Dialect, settings: RadioSettings) {
        self.radio = radio
        self.host = host
        modem = RadioModem(
            ModemConfiguration(dialect: dialect, settings: settings, limits: TransmitLimits()), kind: .remote, at: now)
        pump()
    }

    /// Advances to the next moment at which something happens.
    mutating func step() throws(StationError) {
        // A step of at least a microsecond, so that a deadline that does not move cannot stop time.
        now = max(min(radio.nextDeadline, modem.nextDeadline ?? .never), now.advanced(byMicroseconds: 1))
        let bytes = try radio.advance(to: now)
        if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
        if modem.isSerialLine, !bytes.isEmpty {
            for frame in host.answers(toSerial: bytes, at: now) { radio.receive(Channel.stuffed(frame), now: now) }
        } else if !bytes.isEmpty {
            modem.receive(bytes.span, at: now)
        }
        pump()
    }

    /// Passes the events of the modem to the host, and the modem's bytes to the stick.
    private mutating func pump() {
        while let event = modem.nextEvent() {
            switch event {
            case .ready(let profile), .timing(let profile): host.setTiming(profile)
            case .packet(let packet, let signal):
                for frame in host.answers(toPacket: packet, signal: signal, at: now) { modem.send(frame) }
            case .serialLine, .serialBytes, .transmits, .airtime, .notice: break
            }
        }
        modem.flush(at: now)
        let bytes = modem.takeBytes()
        if !bytes.isEmpty { radio.receive(bytes, now: now) }
    }
}
