import CollarARQ
import CollarControl
import CollarErrors
import CollarFirmware
import CollarFormats
import CollarHost
import CollarJournal
import CollarLink
import CollarSimulator
import CollarWire

/// The collar, the radio and the receiver of a ``FlakySession``.
actor FlakyDriver: SessionDriver {
    struct Plan: Sendable {
        let fixes: [Fix]
        let intervalMicroseconds: Int64
        let loss: Double
        let burst: Double?
        let corrupt: Double
        let seed: UInt64
    }

    /// The name of the radio's port in events.
    private static let port = "radio"

    private let directory: String
    private let clock: VirtualClock
    private let eventLog: EventLogWriter
    private var random: SeededRandom
    private var radio: SharedRadio<MemoryFlash>
    /// The receiver, and its link to the radio; nil while it restarts.
    private var receiver: (host: Host, link: LinkID)?
    private let deviceID: DeviceID
    private var isPluggedIn = true
    private var results: [UInt16: [UInt8]] = [:]
    /// Why the simulated collar has stopped.
    private var failure: StationError?
    /// When the session ends, after everything was delivered and answered; nil before that.
    private var endsAt: Instant?
    /// Time between the last delivery and the end, in microseconds: programs answer what has come.
    private static let restMicroseconds: Int64 = 5_000_000

    init(_ plan: Plan, directory: String, clock: VirtualClock) throws(UserFacingError) {
        self.directory = directory
        self.clock = clock
        random = SeededRandom(seed: plan.seed)
        eventLog = EventLogWriter(stateDirectory: directory)
        let now = clock.time.instant
        deviceID = DeviceID(rawValue: random.next())
        do throws(StationError) { radio = try FlakyDriver.makeRadio(plan, deviceID, &random, at: now) } catch {
            throw UserFacingError(.unknown, reason: "The simulated collar does not start: \(error).")
        }
        receiver = try FlakyDriver.makeReceiver(directory, &random, at: clock.time)
    }

    static func fixes(of walk: [LocationFix]) throws(UserFacingError) -> [Fix] {
        var fixes: [Fix] = []
        for location in walk {
            do throws(QuantizationError) { fixes.append(try Fix(quantizing: location)) } catch {
                throw UserFacingError(.badRequest, reason: "Fix \(fixes.count) of the walk cannot be sent: \(error.description).")
            }
        }
        return fixes
    }

    private static func makeRadio(
        _ plan: Plan, _ deviceID: DeviceID, _ random: inout SeededRandom, at now: Instant
    ) throws(StationError) -> SharedRadio<MemoryFlash> {
        let modem = SimulatedModem.serial.profile
        let address = UInt8(1 + deviceID.rawValue % 254)
        let configuration = CollarFirmware.Collar<MemoryFlash>.Configuration(
            deviceID: deviceID, address: address, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            capabilities: Capabilities(rawValue: Capabilities.sounder.rawValue | Capabilities.messages.rawValue),
            delivery: .init(
                modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount, dutyCyclePartsPerMillion: nil, jitterSeed: nil))
        let device: CollarDevice<MemoryFlash>
        do throws(FlashError) {
            device = try CollarDevice(
                starting: configuration, flash: MemoryFlash(blockCount: plan.fixes.count / 60 + 16), cause: .powerOn,
                randomLogID: UInt32(truncatingIfNeeded: random.next()), now: now)
        } catch { throw .flash(error) }
        let station = try CollarRadioStation(
            device: device, address: address,
            radio: LossyRadio(
                lossProbability: plan.loss, corruptionProbability: plan.corrupt, meanBurstLength: plan.burst, seed: random.next()),
            modem: modem, track: SimulatedTrack(fixes: plan.fixes, pace: .interval(microseconds: plan.intervalMicroseconds)), start: now)
        return SharedRadio([station], modem: modem, seed: random.next())
    }

    private static func makeReceiver(
        _ directory: String, _ random: inout SeededRandom, at time: HostTime
    ) throws(UserFacingError) -> (host: Host, link: LinkID) {
        var configuration = HostConfiguration(stateDirectory: directory)
        configuration.hasConsumer = false
        configuration.selection.hasFixes = false
        do throws(HostError) {
            let host = try Host(
                configuration, fileSystem: POSIXFileSystem(stateDirectory: directory), random: SeededRandom(seed: random.next()), at: time)
            let link = host.addLink(named: port)
            host.linkOpened(link, at: time)
            return (host, link)
        } catch { throw UserFacingError(.stateUnusable, reason: "The receiver of the session does not start: \(error).") }
    }

    // MARK: Time

    func step(until limit: Instant?, after count: Int) -> Bool {
        let time = clock.time
        if failure != nil { return false }
        if radio.isDelivered, receiver?.host.openRequestCount(of: deviceID) == 0 {
            let end = endsAt ?? time.instant.advanced(byMicroseconds: FlakyDriver.restMicroseconds)
            endsAt = end
            if time.instant >= end { return false }
        }
        var next = radio.nextDeadline
        if let due = receiver?.host.nextDeadline { next = min(next, due) }
        if let limit { next = min(next, limit) }
        clock.advance(to: next)
        advance()
        return true
    }

    private func advance() {
        let time = clock.time
        do throws(StationError) {
            let bytes = try radio.advance(to: time.instant)
            if let receiver, isPluggedIn {
                receiver.host.receive(bytes.span, on: receiver.link, at: time)
            } else {
                radio.serialBytesWereDropped()
            }
        } catch { failure = error }
        if let host = receiver?.host, let due = host.nextDeadline, time.instant >= due { host.deadlineReached(at: time) }
        exchange(at: time)
    }

    /// Makes durable what the host has received, and sends what it answers.
    private func exchange(at time: HostTime) {
        guard let host = receiver?.host else { return }
        while host.commitNext(at: time) {}
        while true {
            var target: LinkID?
            let frame = [UInt8](capacity: Frame.maximumByteCount) { output in target = host.nextFrame(into: &output) }
            guard target != nil else { break }
            guard isPluggedIn else { continue }
            let bytes = [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
                StreamEncoder.encode(frame.span, into: &output)
            }
            radio.receive(bytes, now: time.instant)
        }
        host.framesSent(at: time.instant)
        var notices: [HostNotice] = []
        host.moveNotices(to: &notices)
        for notice in notices { report(notice, at: time) }
    }

    // MARK: Events and requests

    private func report(_ notice: HostNotice, at time: HostTime) {
        if case .requestEnded(let report) = notice {
            let line = ResultLine(report, unixMilliseconds: time.unixMilliseconds).bytes
            results[report.requestID] = line
            write(line)
        } else if case .collar(let deviceID, let notice) = notice, let kind = CollarEvent.Kind(notice) {
            write(kind.line(at: time.unixMilliseconds, deviceID: deviceID))
        }
    }

    private func write(_ line: [UInt8]?) {
        // As with a receiver, a line that cannot be written is lost.
        if let line { try? eventLog.append(line) }
    }

    var isRunning: Bool { receiver != nil }

    func answer(to line: [UInt8]) -> [UInt8] {
        let time = clock.time
        guard let host = receiver?.host else { return [] }
        if let isFigures = try? FiguresRequest.isIn(line), isFigures {
            var figures = ReceiverFigures(host.reading(at: time))
            figures.radios = [RadioFigures(port: FlakyDriver.port, state: isPluggedIn ? .open : .waiting, dialect: "serial")]
            return figures.line(unixMilliseconds: time.unixMilliseconds)
        }
        let result: ResultLine
        do throws(ControlRequest.Fault) { result = host.result(of: try ControlRequest(line: line), at: time) } catch {
            result = ResultLine(rejectedAt: time.unixMilliseconds, code: ErrorCode.badRequest.rawValue, reason: error.reason)
        }
        exchange(at: time)
        endsAt = nil
        return result.bytes
    }

    func takeResult(of requestID: UInt16) -> [UInt8]? { results.removeValue(forKey: requestID) }

    // MARK: Faults

    func restartReceiver() throws(UserFacingError) {
        // The former host gives up its locks with its last reference.
        receiver = nil
        let time = clock.time
        let new = try FlakyDriver.makeReceiver(directory, &random, at: time)
        if !isPluggedIn { new.host.linkClosed(new.link, at: time) }
        receiver = new
    }

    func setRadio(isPluggedIn: Bool) {
        guard isPluggedIn != self.isPluggedIn else { return }
        self.isPluggedIn = isPluggedIn
        let time = clock.time
        if let (host, link) = receiver {
            if isPluggedIn { host.linkOpened(link, at: time) } else { host.linkClosed(link, at: time) }
        }
        let event: CollarEvent.Kind = isPluggedIn ? .opened(port: FlakyDriver.port) : .unplugged(port: FlakyDriver.port)
        write(event.line(at: time.unixMilliseconds, deviceID: nil))
    }
}

extension CollarEvent.Kind {
    /// The event of a notice; nil if it is no event of a link.
    fileprivate init?(_ notice: CollarNotice) {
        switch notice {
        case .heard(_, let link, _): self = .heard(port: link)
        case .health(.condition(let condition)):
            switch condition {
            case .healthy: self = .healthy
            case .degraded: self = .degraded
            case .unhealthy: self = .unhealthy
            }
        case .health(.late): self = .late
        case .health(.unreachable): self = .unreachable
        case .health(.reachable): self = .reachable
        case .restarted(let cause): self = .restarted(cause: cause.map { $0.name ?? "none" })
        default: return nil
        }
    }
}
