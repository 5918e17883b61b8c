import CollarARQ
import CollarFirmware
import CollarWire

/// The parameters of a simulation of days.
package struct DaySetup: Sendable {
    /// The settings of the collar that differ from the defaults. The modem follows the spreading factor among them.
    package var settings: [Setting] = []
    /// Sky, reach and motion.
    package var plan = DayPlan()
    /// The spreading factor of the radio at 125 kHz, if no setting names another.
    package var spreadingFactor: UInt8 = 9
    /// The time from the end of a poll to the start of its answer, in microseconds.
    package var turnaroundMicroseconds: Int64 = 75_000
    /// The probability that a frame is lost, 0 … 1, in each direction.
    package var lossProbability = 0.0
    /// The share of an hour in which the collar may send, in millionths; nil for no limit.
    package var dutyCyclePartsPerMillion: Int64?
    /// Whether the board has an accelerometer.
    package var hasAccelerometer = true
    /// Whether the radio senses the channel before it sends.
    package var sensesChannel = false
    /// Whether the GNSS receiver tells how many satellites it hears.
    package var tellsSatellites = true
    /// How long the GNSS receiver searches.
    package var timesToFix = TimesToFix()
    /// The standard deviation of positions along each axis, in metres.
    package var noiseMeters = 2.5
    /// The seed of all that is random.
    package var seed: UInt64 = 0

    /// The time of day at which a simulation begins: midnight of 2027-01-01, in milliseconds since 1970.
    static let unixStartMilliseconds: Int64 = 1_798_761_600_000

    package init() {}

    /// The spreading factor of the radio: that of the settings, if they name one.
    package var spreadingFactorInForce: UInt8 {
        let factor = settings.last { $0.key == SettingKey.spreadingFactor.rawValue && $0.value > 0 }?.value
        return factor.map { UInt8(truncatingIfNeeded: $0) } ?? spreadingFactor
    }

    fileprivate var modem: ModemProfile {
        var profile = SimulatedModem.lora(spreadingFactor: spreadingFactorInForce).profile
        profile.turnaroundMicroseconds = turnaroundMicroseconds
        return profile
    }
}

/// Why a simulation cannot begin.
package enum DayError: Error, Equatable, Sendable {
    /// The collar refuses this setting.
    case settingRefused(Setting)
    /// The flash of the collar fails.
    case flash(FlashError)

    init(_ error: PreparationError) {
        self =
            switch error {
            case .settingRefused(let setting): .settingRefused(setting)
            case .flash(let error): .flash(error)
            }
    }
}

/// A collar and its base, from the boot of the collar on, in virtual time: the shipping ``CollarProgram`` on a board in memory.
///
/// The collar is paired, and has its settings, before it boots. Bytes on the line of the GNSS receiver and the program take no time.
package final class SimulatedDay {
    private static let address: UInt8 = 9
    private static let blockCount = 128
    private static let promptMicroseconds: Int64 = 600_000_000

    private let hardware: DayHardware
    private var program: CollarProgram<DayBoard>
    private var deadline = Instant(microseconds: 0)
    /// When each fix was logged.
    package private(set) var logged: [Instant] = []

    /// Boots a collar.
    package init(_ setup: DaySetup) throws(DayError) {
        let modem = setup.modem
        let configuration = Collar<KeptFlash>.Configuration(
            deviceID: 0x00C0_11A2_0000_0001, address: Self.address, firmwareVersion: FirmwareVersion(major: 0, minor: 1, patch: 0),
            delivery: CollarDelivery.Configuration(
                modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount,
                dutyCyclePartsPerMillion: setup.dutyCyclePartsPerMillion, jitterSeed: UInt32(truncatingIfNeeded: setup.seed)))
        let flash = KeptFlash(blockCount: Self.blockCount)
        let log: LogIdentity
        do throws(PreparationError) {
            log = try Collar.prepared(
                on: flash, configuration, receiverID: DayReceiver.receiverID, settings: setup.settings, now: Instant(microseconds: 0)
            ).log
        } catch { throw DayError(error) }
        hardware = DayHardware(setup, modem: modem, base: DayReceiver(log: log, address: Self.address))
        program = CollarProgram(DayBoard(hardware: hardware, flash: flash), configuration: configuration)
        deadline = program.step()
    }

    /// The present time, from the boot on.
    package var now: Instant { hardware.now }

    /// How the collar spent its time since the boot.
    package var statistics: DayStatistics {
        var statistics = hardware.statistics
        let report = program.device.powerReport(now: now)
        statistics.fixes = logged.count
        statistics.promptFixes = arrivals.count { $0.at.microseconds(since: logged[Int($0.sequence)]) <= Self.promptMicroseconds }
        statistics.searches = Int(report.searches)
        statistics.failures = Int(report.failures)
        return statistics
    }

    /// The power report that the collar would send now.
    package var powerReport: PowerReport { program.device.powerReport(now: now) }

    /// The newest power report that the base has received.
    package var receivedPowerReport: PowerReport? { hardware.base.powerReport }

    /// When each fix arrived first, in the order of arrival, and its sequence.
    package var arrivals: [(sequence: UInt32, at: Instant)] { hardware.base.arrivals }

    /// The values of the settings that the collar has reported, by their keys.
    package var reportedSettings: [UInt8: UInt32] { hardware.base.reported }

    /// The base sends a request after each poll until the collar replies.
    package func submit(_ request: HostRequest) { hardware.base.submit(request) }

    /// Whether the collar has replied to every request.
    package var isEveryRequestAnswered: Bool { hardware.base.requests.count == 0 }

    /// Lets the time pass.
    package func run(until end: Instant) {
        var stepsAtOnce = 0
        while now < end {
            let supply = powerReport.supply
            let gnss = hardware.gnss
            let before = now
            program.wait(until: min(deadline, end))
            let elapsed = now.microseconds(since: before)
            stepsAtOnce = elapsed > 0 ? 0 : stepsAtOnce + 1
            precondition(stepsAtOnce < 1000, "the program sleeps")
            hardware.statistics[supply] += elapsed
            if supply == .tracking, gnss.hasPosition {
                if gnss.isCyclic {
                    hardware.statistics.cyclicMicroseconds += elapsed
                } else {
                    hardware.statistics.fullTrackingMicroseconds += elapsed
                }
            }
            deadline = program.step()
            while logged.count < Int(program.device.collar.nextSequence) { logged.append(now) }
        }
    }
}
