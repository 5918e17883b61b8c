import CollarARQ
import RadioModems

extension KISSModemStick {
    /// Why the firmware does not do what an extension asks for.
    private enum Refusal: UInt8 {
        case tooShort = 1
        case unknownCommand = 5
    }

    /// Processes the extensions that concern the radio. The firmware's other ones, such as encryption, are answered here as
    /// unknown.
    mutating func processExtension(_ data: [UInt8], now: Instant) {
        guard let command = data.first else { return }
        let parameters = Array(data.dropFirst())
        let response = command | 0x80
        switch command {
        case 0x09: set(parameters, now: now)
        case 0x0A: setPower(parameters, now: now)
        case 0x0B: answer([response] + askedBytes, now: now)
        case 0x0C: answer([response, UInt8(bitPattern: asked.powerDBm)], now: now)
        case 0x0D: answer([response, UInt8(bitPattern: Self.noiseDBm)], now: now)
        case 0x0E: answer([response, isReceiving(now: now) ? 1 : 0], now: now)
        case 0x0F: tellAirtime(parameters, now: now)
        case 0x10: answer([response, UInt8(bitPattern: Self.noiseDBm), 0xFF], now: now)
        case 0x11: answer([response, 1, 0], now: now)
        case 0x12:
            answer(
                [response] + .littleEndian(receivedCount) + .littleEndian(sentCount) + .littleEndian(UInt32(0)), now: now)
        case 0x16: answer([response] + Array(boardName.utf8), now: now)
        case 0x17: answer([response], now: now)
        case 0x18:
            answer([0xF0], now: now)
            // The firmware waits before it restarts, so that its answer leaves the UART.
            restartTime = now.advanced(byMicroseconds: 50_000)
        case 0x19: setSignalReport(parameters, now: now)
        case 0x1A: answer([response, reportsSignal ? 1 : 0], now: now)
        default: refuse(.unknownCommand, now: now)
        }
    }

    /// What the radio measures while nobody sends.
    private static let noiseDBm: Int8 = -110

    private mutating func refuse(_ reason: Refusal, now: Instant) { answer([0xF1, reason.rawValue], now: now) }

    private mutating func set(_ parameters: [UInt8], now: Instant) {
        guard parameters.count >= 10 else { return refuse(.tooShort, now: now) }
        let frequency = parameters[0..<4].reversed().bigEndianNumber
        let bandwidth = parameters[4..<8].reversed().bigEndianNumber
        // The firmware keeps the frequency in megahertz with 24 bits of precision, and counts back for the answer.
        asked.frequencyHertz = UInt32((Double(Float(frequency) / 1_000_000) * 1_000_000).rounded())
        asked.bandwidthHertz = bandwidth
        asked.spreadingFactor = parameters[8]
        asked.codingRateDenominator = parameters[9]
        if !isRefusingSettings { apply(frequencyHertz: frequency, asked) }
        // The firmware does not look at what the radio said.
        answer([0xF0], now: now)
    }

    /// Sets the radio. Each setting is refused on its own, and then keeps its value. (H: not tried on hardware.)
    private mutating func apply(frequencyHertz: UInt32, _ asked: RadioSettings) {
        if LoRaChip.frequencyHertz.contains(frequencyHertz) { settings.frequencyHertz = frequencyHertz }
        if LoRaChip.bandwidthHertz.contains(asked.bandwidthHertz) { settings.bandwidthHertz = asked.bandwidthHertz }
        if LoRaChip.spreadingFactor.contains(asked.spreadingFactor) { settings.spreadingFactor = asked.spreadingFactor }
        if LoRaChip.codingRateDenominator.contains(asked.codingRateDenominator) {
            settings.codingRateDenominator = asked.codingRateDenominator
        }
    }

    private mutating func setPower(_ parameters: [UInt8], now: Instant) {
        guard let byte = parameters.first else { return refuse(.tooShort, now: now) }
        asked.powerDBm = Int8(bitPattern: byte)
        if !isRefusingSettings, LoRaChip.powerDBm.contains(asked.powerDBm) { settings.powerDBm = asked.powerDBm }
        answer([0xF0], now: now)
    }

    private mutating func tellAirtime(_ parameters: [UInt8], now: Instant) {
        guard let count = parameters.first else { return refuse(.tooShort, now: now) }
        let milliseconds = UInt32(clamping: airtimeMicroseconds(byteCount: Int(count)) / 1000)
        answer([0x8F] + .littleEndian(milliseconds), now: now)
    }

    private mutating func setSignalReport(_ parameters: [UInt8], now: Instant) {
        guard let byte = parameters.first else { return refuse(.tooShort, now: now) }
        reportsSignal = byte != 0
        answer([0x9A, reportsSignal ? 1 : 0], now: now)
    }

    private var askedBytes: [UInt8] {
        .littleEndian(asked.frequencyHertz) + .littleEndian(asked.bandwidthHertz)
            + [asked.spreadingFactor, asked.codingRateDenominator]
    }
}
