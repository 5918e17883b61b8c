import CollarWire

extension Status {
    static var sample: Status {
        var status = Status()
        status.isTracking = true
        status.trackingSinceUnixSeconds = 1_700_000_000
        status.gnssState = .fix
        status.throttleState = .lowBattery
        status.batteryPercent = 17
        status.batteryMillivolts = 3456
        status.temperatureCelsius = -7
        status.uptimeSeconds = 86_400
        status.fixesSent = 1234
        status.queueDepth = 5
        status.airtimeMilliseconds = 98_765
        status.clock = Clock(unixMilliseconds: 1_700_000_086_400, uptimeMilliseconds: 417)
        return status
    }
}

extension Settings {
    static func sample(_ direction: Direction) -> Settings {
        var entries = SettingList()
        entries.append(Setting(key: SettingKey.intervalMilliseconds.rawValue, value: 5000))
        entries.append(Setting(key: SettingKey.positionDigits.rawValue, value: 6))
        return Settings(
            direction: direction, requestID: 0x1234, version: SettingsVersion(rawValue: 0x0102_0304_0506_0708), entries: entries)
    }
}

extension LoRaSettings {
    static let sample = LoRaSettings(
        frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: 9, codingRateDenominator: 5,
        preambleSymbols: 8, hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: false, powerDBm: 14)
}

extension Message {
    /// Samples of the messages of sections 13 to 17.
    static var reportSamples: [(name: String, message: Message)] {
        let bytes: [UInt8] = [0, 1, 2, 0, 0xFF]
        let request = ApplicationMessage(kind: .request, code: 7, unixSeconds: 1_700_000_000, data: bytes.span)
        let reply = ApplicationMessage(kind: .reply(to: 812, .busy), code: 7, unixSeconds: 0, data: bytes.span)
        let modem = ModemSettings.Modulation.lora(.sample)
        let all: [(String, Message?)] = [
            ("status", .status(.sample)), ("settings report", .settings(.sample(.report))),
            ("settings update", .settings(.sample(.update))),
            ("settings request", .settingsRequest(SettingsRequest(requestID: 9))),
            ("command", .command(Command(requestID: 3, receiverID: 0x1234_5678, action: .sound(milliseconds: 900)))),
            ("result", .commandResult(CommandResult(requestID: 3, outcome: .busy))),
            ("message of a collar", request.map { .collarMessage(CollarMessage(sequence: 812, content: $0)) }),
            (
                "message of a host",
                reply.map { .hostMessage(HostMessage(requestID: 77, receiverID: 0x1234_5678, content: $0)) }
            ),
            (
                "radio identity",
                .radioIdentity(
                    RadioIdentity(
                        radioID: 0x1122_3344_5566_7788, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 9),
                        maximumFrameByteCount: 253))
            ),
            ("modem settings", .modemSettings(ModemSettings(modulation: modem, turnaroundMilliseconds: 30))),
            (
                "signal report",
                .signalReport(SignalReport(packetCRC: 0xABCDEF, signal: RadioSignal(strengthDBm: -117, signalToNoiseTenthsDB: -75)))
            ),
        ]
        return all.compactMap { name, message in message.map { (name, $0) } }
    }
}
