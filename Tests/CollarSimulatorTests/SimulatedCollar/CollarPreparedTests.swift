import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

/// A collar that is paired and has its settings before a simulation begins.
@Suite struct CollarPreparedTests {
    private static let configuration = Collar<KeptFlash>.Configuration(
        deviceID: 0xABC, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
        delivery: CollarDelivery.Configuration(modem: SimulatedModem.lora(spreadingFactor: 7).profile))
    private static let interval = SettingKey.fixIntervalMilliseconds.rawValue

    private func prepared(on flash: KeptFlash, _ settings: [Setting] = []) throws(PreparationError) -> Collar<KeptFlash> {
        try Collar.prepared(on: flash, Self.configuration, receiverID: 77, settings: settings, randomLogID: 5, now: Instant(microseconds: 0))
    }

    @Test func receiverAndSettingsOutliveAReboot() throws {
        let flash = KeptFlash(blockCount: 12)
        let collar = try prepared(
            on: flash, [Setting(key: Self.interval, value: 30_000), Setting(key: Self.interval, value: 60_000)])
        let rebooted = try Collar(booting: Self.configuration, flash: flash, randomLogID: 6, now: Instant(microseconds: 1))
        for each in [collar, rebooted] {
            #expect(each.pairedReceiverID == 77)
            #expect(each.settings[.fixIntervalMilliseconds] == 60_000)
            #expect(each.log == LogIdentity(deviceID: 0xABC, logID: 5))
        }
    }

    @Test func aSettingThatTheCollarRefusesIsNamed() {
        let refused = Setting(key: Self.interval, value: 1)
        #expect(throws: PreparationError.settingRefused(refused)) { try prepared(on: KeptFlash(blockCount: 12), [refused]) }
    }
}
