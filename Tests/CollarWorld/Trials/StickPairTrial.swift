import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import RadioModems

/// A collar of two sticks: the program of a collar, a stick as its radio, a channel that loses packets, and the stick of a host. All
/// but the sticks and the channel is the code that ships. Power cuts, and sticks that are pulled out, come at random.
package struct StickPairTrial: Sendable {
    package var dialect: Dialect
    package var settings: RadioSettings
    /// A fix is made each second for this time, in seconds.
    package var seconds: Int64 = 3600
    /// Probability that a packet is lost, in each direction, 0 … 1.
    package var loss = 0.2
    /// The mean time between two faults, in seconds; nil for none.
    package var secondsBetweenFaults: Int64? = 120
    package var seed: UInt64

    package init(_ dialect: Dialect, settings: RadioSettings, seed: UInt64) {
        self.dialect = dialect
        self.settings = settings
        self.seed = seed
    }

    package struct Result: Equatable, Sendable {
        /// The sequences of the fixes that the collar logged.
        package var loggedCount: UInt32 = 0
        /// How many of them the host has stored.
        package var storedCount: UInt32 = 0
        package var isEverythingDelivered = false
        package var powerCuts = 0
        package var pulledSticks = 0
        package var uplinkPackets = 0
        package var downlinkPackets = 0
        /// The virtual time at the end, in seconds.
        package var seconds: Int64 = 0
        package var steps = 0
    }

    /// The longest time after the last fix, in seconds.
    private static let patience: Int64 = 3600
    private static let stepLimit = 5_000_000

    package func run() -> Result {
        var random = SeededRandom(seed: seed)
        var result = Result()
        let radio = ModemConfiguration(dialect: dialect, settings: settings, limits: TransmitLimits())
        func stick() -> any BaseStick { dialect.makeStick(modem: PacketRadio.line, seed: random.next()) }
        var pair = StickPair(stick(), stick(), loss: loss, seed: random.next())
        let board = TrialBoard(radio, seed: random.next(), blockCount: Int(seconds) / 60 + 20)
        let delivery = CollarDelivery.Configuration(
            modem: dialect == .serial ? PacketRadio.line : settings.profile(ofCollarWith: dialect), sendsLiveFixes: true,
            batchFrameByteLimit: dialect.maximumFrameByteCount, jitterSeed: 7)
        var configuration = Collar<FaultyFlash>.Configuration.ofTrial(delivery)
        configuration.maximumFrameByteCount = dialect.maximumFrameByteCount
        var program = CollarProgram(board, configuration: configuration)
        var due = program.step()
        let host = InstantHost(knowing: program.device.collar.log)
        var modem = RadioModem(radio, kind: .remote, at: board.clock)
        var collarReturns: Instant?
        var hostReturns: Instant?
        var nextFault = secondsBetweenFaults.map { Instant(microseconds: random.between(0, 2 * $0 * 1_000_000)) }
        var nextSecond: Int64 = 10
        var steps = 0
        let end = Instant(microseconds: (seconds + StickPairTrial.patience) * 1_000_000)
        while board.clock < end {
            var next = min(due, pair.nextDeadline)
            let others = [board.radio.nextDeadline, hostReturns ?? modem.nextDeadline, collarReturns, nextFault]
            for other in others { if let other { next = min(next, other) } }
            if nextSecond <= seconds { next = min(next, Instant(microseconds: nextSecond * 1_000_000)) }
            board.clock = max(next, board.clock.advanced(byMicroseconds: 1))
            let now = board.clock
            if nextSecond <= seconds, now.microseconds >= nextSecond * 1_000_000 {
                board.receiverBytes += NMEASentence.moment(second: nextSecond)
                nextSecond += 1
            }
            if let fault = nextFault, now >= fault {
                nextFault = nextSecond > seconds ? nil : now.advanced(byMicroseconds: random.between(0, 2 * (secondsBetweenFaults ?? 1) * 1_000_000))
                switch random.below(3) {
                case 0:
                    board.flash.stepsUntilPowerCut = random.below(300)
                    result.powerCuts += 1
                case 1:
                    board.radio.closed()
                    pair[.collar] = stick()
                    collarReturns = now.advanced(byMicroseconds: random.between(1_000_000, 10_000_000))
                    result.pulledSticks += 1
                default:
                    modem = RadioModem(radio, kind: .remote, at: now)
                    pair[.host] = stick()
                    hostReturns = now.advanced(byMicroseconds: random.between(1_000_000, 10_000_000))
                    result.pulledSticks += 1
                }
            }
            if let time = collarReturns, now >= time {
                collarReturns = nil
                board.radio.opened(.remote, at: now)
            }
            if let time = hostReturns, now >= time {
                hostReturns = nil
                modem = RadioModem(radio, kind: .remote, at: now)
            }
            pair.advance(to: now)
            let heard = pair.takeOutput(of: .collar, now: now)
            if collarReturns == nil {
                if !heard.isEmpty { board.radio.receive(heard.span, at: now) }
                board.radio.deadlineReached(at: now)
            }
            due = program.step()
            if board.flash.isPowerLost {
                board.flash.restorePower()
                program = CollarProgram(board, configuration: configuration)
                due = program.step()
            }
            let sent = board.radio.takeBytes()
            if collarReturns == nil, !sent.isEmpty { pair.receive(sent, at: .collar, now: now) }
            let answered = exchange(pair.takeOutput(of: .host, now: now), isHere: hostReturns == nil, &modem, host, at: now)
            if hostReturns == nil, !answered.isEmpty { pair.receive(answered, at: .host, now: now) }
            // A deadline that does not move would stop time.
            steps += 1
            if steps > StickPairTrial.stepLimit { break }
            if nextSecond > seconds, program.device.collar.isEverythingDelivered { break }
        }
        result.loggedCount = program.device.collar.nextSequence
        result.storedCount = (0..<result.loggedCount).reduce(0) { $0 + (host.stored.contains($1) ? 1 : 0) }
        result.isEverythingDelivered = program.device.collar.isEverythingDelivered
        (result.uplinkPackets, result.downlinkPackets) = (pair.sentCounts[0], pair.sentCounts[1])
        result.steps = steps
        result.seconds = board.clock.microseconds / 1_000_000
        return result
    }

    /// The host's end of its stick.
    /// - Returns: the bytes for the port.
    private func exchange(_ bytes: [UInt8], isHere: Bool, _ modem: inout RadioModem, _ host: InstantHost, at now: Instant) -> [UInt8] {
        guard isHere else { return [] }
        if modem.isSerialLine {
            var output: [UInt8] = []
            if !bytes.isEmpty { for frame in host.answers(toSerial: bytes, at: now) { output += Channel.stuffed(frame) } }
            return output
        }
        if !bytes.isEmpty { modem.receive(bytes.span, at: now) }
        if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
        while let event = modem.nextEvent() {
            switch event {
            case .ready(let profile), .timing(let profile): host.setTiming(profile)
            case .packet(let packet, let signal):
                for frame in host.answers(toPacket: packet, signal: signal, at: now) { modem.send(frame) }
            case .serialLine, .serialBytes, .transmits, .airtime, .notice: break
            }
        }
        modem.flush(at: now)
        return modem.takeBytes()
    }
}

/// The board of a trial: a flash that tears at a power cut, a stick, and a GNSS receiver that speaks NMEA.
private final class TrialBoard: CollarBoard {
    typealias GNSS = NMEAParser

    var clock = Instant(microseconds: 0)
    let flash: FaultyFlash
    var radio: PacketRadio
    var receiverBytes: [UInt8] = []
    private var random: SeededRandom

    init(_ configuration: ModemConfiguration, seed: UInt64, blockCount: Int) {
        flash = FaultyFlash(blockByteCount: 4096, blockCount: blockCount, seed: seed)
        random = SeededRandom(seed: seed)
        radio = PacketRadio(configuration)
        radio.opened(.remote, at: clock)
    }

    func now() -> Instant { clock }
    func wait(until deadline: Instant) { clock = deadline }
    func randomWord() -> UInt32 { UInt32(truncatingIfNeeded: random.next()) }
    func takeResetCause() -> ResetCause { .external }
    func reset() {}
    func takeFlash() -> FaultyFlash { flash }

    func nextFrame(into frame: inout OutputSpan<UInt8>) -> Bool {
        guard let next = radio.nextFrame() else { return false }
        for byte in next { frame.append(byte) }
        return true
    }

    func send(_ frame: Span<UInt8>) { radio.send(frame.indices.map { frame[$0] }, at: clock) }

    func radioState() -> RadioState {
        switch radio.state(at: clock) {
        case .failed: .failed
        case .ready: .ready
        case .sending: .sending
        }
    }

    var gnssSettings: GNSSSettings {
        guard let earliest = UTCDate(year: 2026, month: 1, day: 1) else { preconditionFailure("the calendar has this day") }
        return GNSSSettings(earliestDate: earliest)
    }

    func readGNSS(into bytes: inout OutputSpan<UInt8>) {
        let count = min(bytes.freeCapacity, receiverBytes.count)
        for byte in receiverBytes[..<count] { bytes.append(byte) }
        receiverBytes.removeFirst(count)
    }

    func writeGNSS(_ bytes: Span<UInt8>) {}
}

/// The sentences of a GNSS receiver whose animal walks north, on 2026-11-28 from noon on.
private enum NMEASentence {
    static func moment(second: Int64) -> [UInt8] {
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let time = digits(12 + second / 3600, 2) + digits(second / 60 % 60, 2) + digits(second % 60, 2) + ".00"
        let minutes = digits(20 + second / 1000, 2) + "." + digits(second % 1000 * 100, 5)
        let place = "47\(minutes),N,00830.00000,E"
        return sentence("GNRMC,\(time),A,\(place),2.7,0.0,281126,,,A") + sentence("GNGGA,\(time),\(place),1,09,0.9,440.0,M,48.0,M,,")
    }

    private static func sentence(_ body: String) -> [UInt8] {
        let sum = body.utf8.reduce(0 as UInt8) { $0 ^ $1 }
        let digits = String(sum, radix: 16, uppercase: true)
        return Array("$\(body)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
    }
}
