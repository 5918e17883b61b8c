import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// A collar of a ``World``: the real state machine over a flash that outlives it. No other file of a world calls that state
/// machine.
final class SimulatedCollar {
    /// The effect of a frame on the collar.
    enum FrameOutcome {
        /// The collar ignores the frame.
        case ignored
        /// The frame is for this collar, but makes it execute nothing new.
        case taken
        /// The frame is a command, message or settings update that was executed, or whose execution has begun.
        case executed
        /// The flash failed while the collar received the frame.
        case failed
    }

    /// The effect of a frame from the cable.
    enum CableOutcome {
        /// The collar ignores the frame.
        case ignored
        /// The collar sends this frame on its cable.
        case answers([UInt8])
        /// The collar has a new key, and must be booted.
        case changesKey
        /// The flash failed, and the collar must be booted.
        case fails
    }

    let index: Int
    let deviceID: DeviceID
    let address: UInt8
    let flash: FaultyFlash
    private let tellsCondition: Bool
    private var configuration: Collar<FaultyFlash>.Configuration
    private var collar: Collar<FaultyFlash>?
    private var stream = StreamDecoder()
    /// The frame that waits to be sent or is on the air.
    var outgoing: [UInt8]?
    /// Counts boots and power cuts: an event of an earlier life is void.
    private(set) var life = 0
    /// The sealed frames that it has accepted in this life.
    var acceptedFrames: Set<[UInt8]> = []
    var fixesMade = 0
    /// The error of its GNSS time, in milliseconds.
    var clockOffset: Int64 = 0
    /// How many of the next fixes are made in a burst.
    var burstFixes = 0
    /// Steps of the flash from the start of the next request that it executes until the power fails; nil for never. A
    /// request must change all of its values or none. Cuts at random times seldom test that.
    var stepsIntoRequestUntilPowerCut: Int?
    /// The end of its pairing window.
    var pairingWindowEnd: Int64 = 0
    /// The earliest time of the next pairing in the calm.
    var nextPairing: Int64 = 0

    init(index: Int, plan: WorldPlan, address: UInt8) {
        self.index = index
        self.address = address
        deviceID = DeviceID(rawValue: 0xC011_A200_0000_0000 + UInt64(index) * 0x0101_0101)
        flash = FaultyFlash(
            blockByteCount: plan.blockByteCount, blockCount: plan.blockCount, seed: plan.seed &+ UInt64(index) &* 977)
        SimulatedCollar.age(flash, plan: plan, index: index)
        tellsCondition = plan.faults.contains(.requests)
        var capabilities: Capabilities = plan.seed % 3 == 0 ? .compass : .sounder
        if plan.faults.contains(.messages), plan.seed % 8 != 0 { capabilities.rawValue |= Capabilities.messages.rawValue }
        configuration = Collar<FaultyFlash>.Configuration(
            deviceID: deviceID, address: address, maximumFrameByteCount: plan.maximumFrameByteCount,
            firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            capabilities: capabilities,
            delivery: CollarDelivery.Configuration(
                burstFrameCount: plan.burstFrameCount, heartbeatMicroseconds: plan.heartbeatMicroseconds,
                maximumTimeoutMicroseconds: plan.maximumTimeoutMicroseconds, modem: plan.modem,
                sendsLiveFixes: plan.faults.contains(.liveForm),
                batchFrameByteLimit: plan.seed % 2 == 0 ? plan.maximumFrameByteCount : nil,
                dutyCyclePartsPerMillion: plan.dutyCyclePartsPerMillion,
                jitterSeed: UInt32(truncatingIfNeeded: plan.seed) &* 0x9E37_79B9 &+ UInt32(index) &+ 1))
    }

    /// Turns a new flash into that of a collar that has delivered many fixes to another receiver.
    private static func age(_ flash: FaultyFlash, plan: WorldPlan, index: Int) {
        guard plan.firstSequence > 0 else { return }
        let logID = (plan.seed &+ UInt64(index)) & UInt64(LogID.max.rawValue)
        var flash = flash
        do throws(FlashError) {
            var store = try SettingsStore(mounting: &flash)
            try store.set(.logID, to: logID, in: &flash)
            try store.set(.formerlyDelivered, to: logID << 32 | UInt64(plan.firstSequence), in: &flash)
        } catch { preconditionFailure("a new flash does not fail") }
    }

    /// The least number of fixes in a full ring: those of all blocks but the two of the settings, the two of the key and
    /// the one that is being filled.
    static func minimumCapacity(_ plan: WorldPlan) -> UInt32 {
        UInt32((plan.blockCount - 5) * ((plan.blockByteCount - 20) / 36))
    }

    var isRunning: Bool { collar != nil }
    var log: LogIdentity? { collar?.log }
    var bootCount: UInt32 { collar?.bootCount ?? 0 }
    var nextSequence: UInt32 { collar?.nextSequence ?? 0 }
    var oldestSequence: UInt32 { collar?.identity.oldestSequence ?? 0 }
    var firstUndelivered: UInt32 { collar?.firstUndelivered ?? 0 }
    var pairedReceiverID: UInt32 { collar?.pairedReceiverID ?? 0 }
    var isEverythingDelivered: Bool { collar?.isEverythingDelivered ?? false }

    /// When the state machine wants to be called; nil while a frame is outgoing or there is no power.
    var nextDeadline: Int64? { outgoing == nil ? collar?.nextDeadline?.microseconds : nil }

    /// Whether the radio receives.
    func isListening(now: Int64) -> Bool { outgoing == nil && collar?.listeningEnd(now: Instant(microseconds: now)) != nil }

    /// Boots.
    /// - Parameter key: the key that the collar has; nil for none.
    /// - Returns: false if the flash failed.
    func boot(randomLogID: UInt32, key: CollarKey?, now: Int64) -> Bool {
        stop()
        configuration.factoryKey = key
        do throws(FlashError) {
            collar = try Collar(
                booting: configuration, flash: flash, randomLogID: randomLogID, now: Instant(microseconds: now))
            if tellsCondition {
                collar?.condition = CollarCondition()
                collar?.power = PowerReport()
            }
            return true
        } catch { return false }
    }

    /// The collar stops, and its memory is lost.
    func stop() {
        life += 1
        collar = nil
        acceptedFrames = []
        outgoing = nil
        stream = StreamDecoder()
    }

    /// Logs an entry.
    /// - Returns: its sequence, or why it is not logged: no sequence is left, a field is out of range, or the flash failed. Nil
    ///   if the collar does not run.
    func append(_ entry: LogEntry) -> Result<UInt32, FixLogError>? {
        do throws(FixLogError) {
            switch entry {
            case .fix(let fix): return (try collar?.log(fix)).map(Result.success)
            case .message(let message): return (try collar?.log(message)).map(Result.success)
            }
        } catch { return .failure(error) }
    }

    /// The bare frames in bytes of a serial line.
    func frames(in bytes: [UInt8]) -> [[UInt8]] { stream.frames(in: bytes) }

    /// Receives one bare frame.
    func receive(_ frame: [UInt8], now: Int64) -> FrameOutcome {
        let stepsBefore = flash.stepCount
        let isCutOff = stepsIntoRequestUntilPowerCut != nil && isRequest(frame)
        if isCutOff { flash.stepsUntilPowerCut = stepsIntoRequestUntilPowerCut }
        defer {
            // The collar ignored the request, or had no reason to write: the cut waits for the next request.
            if isCutOff, flash.stepCount == stepsBefore, !flash.isPowerLost {
                flash.stepsUntilPowerCut = nil
            } else if isCutOff {
                stepsIntoRequestUntilPowerCut = nil
            }
        }
        do throws(FlashError) {
            switch try collar?.receive(frame.span, now: Instant(microseconds: now)) {
            case .command, .message, .settingsChanged: return .executed
            case .acknowledgement, .otherReceiver, .identityRequest, .settingsRequest, .repeatedRequest,
                .requestNotExecuted, .requestNotTaken:
                return .taken
            case .notForThisCollar, .notSealed, .silent, .rejected, nil: return .ignored
            }
        } catch { return .failed }
    }

    private func isRequest(_ frame: [UInt8]) -> Bool {
        do throws(DecodeError) {
            switch try FrameHeader(ofAny: frame.span).type {
            case .command, .hostMessage, .settingsUpdate: return true
            default: return false
            }
        } catch { return false }
    }

    /// Receives one bare frame from the cable.
    func receiveFromCable(_ frame: [UInt8], randomKey: CollarKey, now: Int64) -> CableOutcome {
        do throws(FlashError) {
            switch try collar?.receiveFromCable(frame.span, randomKey: randomKey, now: Instant(microseconds: now)) {
            case .ignored, nil: return .ignored
            case .keyChanged: return .changesKey
            case .answered:
                return .answers(
                    try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(FlashError) in
                        _ = try collar?.nextCableFrame(into: &output)
                    })
            }
        } catch { return .fails }
    }

    /// The firmware reports the outcome of a command or message.
    /// - Returns: whether the request was being executed; nil if the flash did not keep the outcome, so that it must be reported
    ///   again.
    func finish(_ requestID: UInt16, _ outcome: CommandResult.Outcome) -> Bool? {
        do throws(FlashError) { return try collar?.finish(requestID: requestID, outcome: outcome) ?? false } catch { return nil }
    }

    func openPairingWindow(now: Int64) { collar?.openPairingWindow(now: Instant(microseconds: now)) }

    var isTracking: Bool { collar?.isTracking ?? true }
    var settings: CollarSettings? { collar?.settings }

    /// The next frame, if one is due.
    func nextFrame(now: Int64) -> [UInt8]? {
        let (limit, now) = (configuration.maximumFrameByteCount, Instant(microseconds: now))
        do throws(StationError) { return try collar?.nextFrame(now: now, byteLimit: limit) } catch { return nil }
    }

    func frameSent(now: Int64) {
        outgoing = nil
        collar?.frameSent(now: Instant(microseconds: now))
    }
}
