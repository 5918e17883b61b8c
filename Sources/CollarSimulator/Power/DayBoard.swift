import CollarARQ
import CollarFirmware
import CollarWire

/// The board of a simulated day, which the shipping ``CollarProgram`` runs on. Its parts are in a ``DayHardware``, which the simulation
/// looks at, too.
struct DayBoard: CollarBoard, ~Copyable {
    typealias GNSS = UBXParser

    let hardware: DayHardware
    let flash: KeptFlash

    var gnssSettings: GNSSSettings {
        guard let date = UTCDate(year: 2026, month: 1, day: 1) else { preconditionFailure("the calendar has this day") }
        return GNSSSettings(earliestDate: date)
    }

    func now() -> Instant { hardware.now }
    func wait(until deadline: Instant) { hardware.sleep(until: deadline) }
    func randomWord() -> UInt32 { hardware.randomWord }
    func takeResetCause() -> ResetCause { .external }
    func reset() {}
    func takeFlash() -> KeptFlash { flash }

    func nextFrame(into frame: inout OutputSpan<UInt8>) -> Bool {
        guard let received = hardware.nextFrame() else { return false }
        for byte in received { frame.append(byte) }
        return true
    }
    func send(_ frame: Span<UInt8>) { hardware.send(frame.indices.map { frame[$0] }) }
    func listen(until deadline: Instant?) { hardware.listen(until: deadline) }
    var sensesChannel: Bool { hardware.sensesChannel }
    func senseChannel(until deadline: Instant) { hardware.senseChannel() }
    func radioState() -> RadioState { hardware.isSending ? .sending : .ready }

    func readGNSS(into bytes: inout OutputSpan<UInt8>) { hardware.readGNSS(into: &bytes) }
    func writeGNSS(_ bytes: Span<UInt8>) { hardware.writeGNSS(bytes.indices.map { bytes[$0] }) }
    func setGNSS(_ supply: GNSSSupply) -> Bool {
        hardware.setGNSS(supply)
        return true
    }

    func readBattery() -> BatteryReading { BatteryReading(percent: 80, millivolts: 4000, celsius: 20) }
    func takeMotion() -> Bool? { hardware.takeMotion() }
}
