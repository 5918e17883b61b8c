import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire
import RadioModems

/// The real host of a ``ChannelTrial``: it takes some milliseconds for an answer, and may be restarted on the same disk.
struct ChannelHost {
    /// A stick with MeshCore's KISS modem at the host, instead of a stick of the serial line, which sends without a limit.
    struct KISSStick {
        let settings: RadioSettings
        /// The part of each hour in which the stick may send, in millionths; nil for no limit.
        let dutyCyclePartsPerMillion: Int64?
    }

    /// What became of the answers that the host gave to the modem of its stick.
    struct AnswerCounts: Equatable {
        var sent = 0
        /// Not sent, because the duty cycle was used up.
        var overBudget = 0
        /// Not sent, because the stick was busy until the collar did not listen any more.
        var late = 0
        /// How often the airtime became short.
        var shortages = 0
    }

    /// The time from a poll to its answer, in microseconds.
    private static let answerMicroseconds: Int64 = 5000

    private static let stateDirectory = "/state"

    let receiverID: UInt32
    /// The answers to the modem of a ``KISSStick`` since the start of the trial.
    private(set) var answers = AnswerCounts()
    private let stick: KISSStick?
    private let disk: SimulatedDisk
    private var host: Host
    private var link: LinkID
    private var modem: RadioModem?
    private var profile: ModemProfile?
    private var waiting: (frames: [[UInt8]], due: Instant)?
    private var output: [UInt8] = []
    /// The answers that wait in the modem.
    private var given: [(airtime: Int64, time: Instant)] = []

    /// - Parameters:
    ///   - stick: the stick at the host; nil for one of the serial line.
    ///   - keys: the keys of collars that the host has.
    init(receiverID: UInt32, stick: KISSStick? = nil, keys: [DeviceID: CollarKey] = [:], at now: Instant) {
        self.receiverID = receiverID
        self.stick = stick
        disk = SimulatedDisk(seed: UInt64(receiverID))
        let files = KeyFiles(stateDirectory: Self.stateDirectory, fileSystem: disk)
        do throws(JournalError) {
            if !keys.isEmpty { try files.makeDirectories() }
            for (deviceID, key) in keys { try files.store(KeyFiles.Entry(key: key), of: deviceID) }
        } catch { preconditionFailure("a sound disk takes keys: \(error)") }
        (host, link) = Self.start(disk, receiverID: receiverID, at: now)
        open(isRested: true, at: now)
    }

    private static func start(_ disk: SimulatedDisk, receiverID: UInt32, at now: Instant) -> (Host, LinkID) {
        var configuration = HostConfiguration(stateDirectory: stateDirectory)
        configuration.selection.hasFixes = false
        configuration.receiverID = receiverID
        do throws(HostError) {
            let host = try Host(
                configuration, fileSystem: disk, random: SeededRandom(seed: UInt64(receiverID)), at: InstantHost.time(now))
            return (host, host.addLink(named: "radio"))
        } catch { preconditionFailure("a sound disk takes a journal: \(error)") }
    }

    private mutating func open(isRested: Bool, at now: Instant) {
        guard let stick else {
            host.linkOpened(link, at: InstantHost.time(now))
            return collectFrames(at: now)
        }
        let limits = TransmitLimits(dutyCyclePartsPerMillion: stick.dutyCyclePartsPerMillion)
        modem = RadioModem(
            ModemConfiguration(dialect: .kiss, settings: stick.settings, limits: limits), kind: .remote, isRested: isRested, at: now)
        given = []
        passEvents(at: now)
    }

    mutating func restart(at now: Instant) {
        waiting = nil
        disk.endProcess()
        (host, link) = Self.start(disk, receiverID: receiverID, at: now)
        open(isRested: false, at: now)
    }

    var nextDeadline: Instant? {
        let work = output.isEmpty ? nil : Instant(microseconds: .min)
        return [host.nextDeadline, waiting?.due, modem?.nextDeadline, work].compactMap(\.self).min()
    }

    mutating func receive(_ bytes: [UInt8], at now: Instant) {
        let time = InstantHost.time(now)
        if modem == nil {
            if !bytes.isEmpty { host.receive(bytes.span, on: link, at: time) }
        } else {
            modem?.receive(bytes.span, at: now)
            if let due = modem?.nextDeadline, now >= due { modem?.deadlineReached(at: now) }
            passEvents(at: now)
        }
        if let due = host.nextDeadline, now >= due { host.deadlineReached(at: time) }
        while host.commitNext(at: time) {}
        collectFrames(at: now)
    }

    private mutating func collectFrames(at now: Instant) {
        while let next = host.nextFrame() {
            let due = waiting?.due ?? now.advanced(byMicroseconds: Self.answerMicroseconds)
            waiting = ((waiting?.frames ?? []) + [next.frame], due)
        }
    }

    /// The bytes that are ready for the stick.
    mutating func takeBytes(at now: Instant) -> [UInt8] {
        if let ready = waiting, now >= ready.due {
            waiting = nil
            if modem == nil { output += ready.frames.flatMap(Channel.stuffed) } else { give(ready.frames, at: now) }
        }
        defer { output = [] }
        return output
    }

    /// The fixes of a log that are stored.
    func stored(of log: LogIdentity) -> CoveredSequences { host.durable(of: log) }

    // MARK: The modem

    private mutating func give(_ answer: [[UInt8]], at now: Instant) {
        for frame in answer { modem?.send(frame) }
        if let profile {
            given.append((answer.reduce(0) { $0 + profile.airtimeMicroseconds(frameByteCount: $1.count) }, now))
        }
        modem?.flush(at: now)
        passEvents(at: now)
    }

    /// Passes the events of the modem to the host, as a receiver does.
    private mutating func passEvents(at now: Instant) {
        while let event = modem?.nextEvent() {
            switch event {
            case .ready(let profile):
                self.profile = profile
                host.linkOpened(link, timing: profile, at: InstantHost.time(now))
            case .timing(let profile):
                self.profile = profile
                host.setTiming(profile, of: link)
            case .packet(let packet, let signal): host.receive(packet: packet.span, signal: signal, on: link, at: InstantHost.time(now))
            case .transmits(let airtime):
                if let index = given.firstIndex(where: { $0.airtime == airtime }) {
                    noteDropped(index, at: now)
                    given.removeFirst()
                    answers.sent += 1
                }
            case .airtime(let isShort):
                host.setAirtimeShort(isShort, of: link)
                if isShort { answers.shortages += 1 }
            case .serialLine, .serialBytes, .notice: break
            }
        }
        if modem?.isReady == false { given = [] }
        if modem?.isSending == false { noteDropped(given.count, at: now) }
        collectFrames(at: now)
        output += modem?.takeBytes() ?? []
    }

    /// Counts the oldest answers that wait, which the modem has dropped just now.
    private mutating func noteDropped(_ count: Int, at now: Instant) {
        for answer in given.prefix(count) {
            let isLate = now.microseconds(since: answer.time) >= profile?.turnaroundMicroseconds ?? 0
            if isLate { answers.late += 1 } else { answers.overBudget += 1 }
        }
        given.removeFirst(count)
    }
}
