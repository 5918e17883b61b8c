import CollarARQ
import RadioModems

extension RNodeStick {
    /// Processes a frame of the host.
    mutating func process(_ frame: [UInt8], now: Instant) {
        guard let type = frame.first else { return }
        let data = Array(frame.dropFirst())
        switch type {
        case 0x00: queuePacket(data, now: now)
        case 0x01...0x05: set(type, data, now: now)
        case 0x06: switchRadio(data, now: now)
        case 0x08 where data == [0x73]: answer(type, [0x46], now: now)
        // The host leaves. (H: no answer, and the radio stays on.)
        case 0x0A: break
        case 0x0B, 0x0C: limit(type, data, now: now)
        // Whether there is room for another packet. (H)
        case 0x0F: answer(type, [hasRoom(for: Self.partByteCount, now: now) ? 1 : 0], now: now)
        case 0x48: answer(type, [0x80], now: now)
        case 0x49: answer(type, [0x81], now: now)
        case 0x50: answer(type, [1, 86], now: now)
        // (H: that the host can restart the board with the words that the board says when it starts.)
        case 0x55 where data == [0xF8]: restart(now: now)
        // On a real board these commands write the configuration and the ROM, or erase them. (H: which they are.)
        case 0x52...0x54, 0x57...0x59, 0x61: dangerousCommandCount += 1
        default: break
        }
    }

    /// Sets a parameter of the radio and answers what holds now. (H: a value of zero only asks.)
    private mutating func set(_ type: UInt8, _ data: [UInt8], now: Instant) {
        let isNumber = type <= 0x02
        guard data.count >= (isNumber ? 4 : 1) else { return }
        let number = isNumber ? data.prefix(4).bigEndianNumber : UInt32(data[0])
        if number != 0, !isRefusingSettings { apply(type, number) }
        switch type {
        case 0x01: answer(type, .bigEndian(settings.frequencyHertz), now: now)
        case 0x02: answer(type, .bigEndian(settings.bandwidthHertz), now: now)
        case 0x03: answer(type, [UInt8(bitPattern: settings.powerDBm)], now: now)
        case 0x04: answer(type, [settings.spreadingFactor], now: now)
        default: answer(type, [settings.codingRateDenominator], now: now)
        }
    }

    /// Sets a parameter to the nearest value that the radio has. (H: the chip's ranges; the next wider bandwidth.)
    private mutating func apply(_ type: UInt8, _ number: UInt32) {
        switch type {
        case 0x01: settings.frequencyHertz = number.clamped(to: LoRaChip.frequencyHertz)
        case 0x02: settings.bandwidthHertz = LoRaChip.bandwidthHertz.first { $0 >= number } ?? 500_000
        case 0x03: settings.powerDBm = Int8(clamping: number).clamped(to: 0...LoRaChip.powerDBm.upperBound)
        case 0x04: settings.spreadingFactor = UInt8(clamping: number).clamped(to: LoRaChip.spreadingFactor)
        default: settings.codingRateDenominator = UInt8(clamping: number).clamped(to: LoRaChip.codingRateDenominator)
        }
    }

    /// Switches the radio on or off, and answers what it is. Without parameters it does not go on.
    private mutating func switchRadio(_ data: [UInt8], now: Instant) {
        guard let wanted = data.first else { return }
        let isComplete = settings.frequencyHertz > 0 && settings.bandwidthHertz > 0 && settings.spreadingFactor > 0
            && settings.codingRateDenominator > 0
        if wanted <= 1 { setRadio(on: wanted == 1 && isComplete, now: now) }
        answer(0x06, [isOn ? 1 : 0], now: now)
    }

    private mutating func limit(_ type: UInt8, _ data: [UInt8], now: Instant) {
        guard data.count >= 2 else { return }
        let value = UInt16(clamping: data.prefix(2).bigEndianNumber)
        if type == 0x0B { limits.short = value } else { limits.long = value }
        answer(type, .bigEndian(value), now: now)
    }
}
