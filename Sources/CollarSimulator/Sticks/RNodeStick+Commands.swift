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
        // Whether there is room for another packet.
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

    /// Sets a parameter of the radio and answers what holds now. A frequency or bandwidth of 0, and any other value of 255, only
    /// asks.
    private mutating func set(_ type: UInt8, _ data: [UInt8], now: Instant) {
        let isNumber = type <= 0x02
        guard data.count >= (isNumber ? 4 : 1) else { return }
        let number = isNumber ? data.prefix(4).bigEndianNumber : UInt32(data[0])
        if number != (isNumber ? 0 : 255), !isRefusingSettings {
            apply(type, number)
            if isOn {
                tuneChip()
                if type != 0x01, type != 0x03 { tellTiming(now: now) }
            }
        }
        switch type {
        case 0x01: answer(type, .bigEndian(settings.frequencyHertz), now: now)
        case 0x02: answer(type, .bigEndian(settings.bandwidthHertz), now: now)
        case 0x03: answer(type, [UInt8(bitPattern: toldPowerDBm)], now: now)
        case 0x04: answer(type, [settings.spreadingFactor], now: now)
        default: answer(type, [settings.codingRateDenominator], now: now)
        }
    }

    /// Keeps a parameter. (H: the least power.)
    private mutating func apply(_ type: UInt8, _ number: UInt32) {
        switch type {
        case 0x01: settings.frequencyHertz = number
        case 0x02: settings.bandwidthHertz = number
        case 0x03:
            settings.powerDBm = Int8(clamping: number).clamped(to: 0...LoRaChip.powerDBm.upperBound)
            toldPowerDBm = settings.powerDBm
        case 0x04: settings.spreadingFactor = UInt8(clamping: number).clamped(to: LoRaChip.spreadingFactor)
        default: settings.codingRateDenominator = UInt8(clamping: number).clamped(to: LoRaChip.codingRateDenominator)
        }
    }

    /// Gives the chip the parameters. It takes the nearest value that it has, and the firmware reads back the frequency and the
    /// bandwidth. (H: the chip's ranges; the next wider bandwidth.) With an amplifier the firmware tells the power of the table's
    /// step, and not the power that it was told; below the lowest step the chip gives less than 0 dBm, as far as it can.
    private mutating func tuneChip() {
        settings.frequencyHertz = settings.frequencyHertz.clamped(to: LoRaChip.frequencyHertz)
        settings.bandwidthHertz = LoRaChip.bandwidthHertz.first { $0 >= settings.bandwidthHertz } ?? 500_000
        guard hasAmplifier else { return }
        toldPowerDBm = max(toldPowerDBm, Self.lowestAmplifiedDBm)
        settings.powerDBm = max(settings.powerDBm, Self.lowestAmplifiedDBm + LoRaChip.powerDBm.lowerBound)
    }

    /// Switches the radio on or off, and answers what it is: the start of the radio and the command answer both. Any other value only
    /// asks if it is 255. Without parameters the radio does not go on.
    private mutating func switchRadio(_ data: [UInt8], now: Instant) {
        let isComplete = settings.frequencyHertz > 0 && settings.bandwidthHertz > 0 && settings.spreadingFactor > 0
            && settings.codingRateDenominator > 0
        switch data.first {
        case 0: setRadio(on: false, now: now)
        case 1:
            if isComplete, !isOn {
                setRadio(on: true, now: now)
                tuneChip()
                // Bandwidth, spreading factor and coding rate are set one after the other.
                for _ in 0..<3 { tellTiming(now: now) }
            }
            answer(0x06, [isOn ? 1 : 0], now: now)
        case 255: break
        default: return
        }
        answer(0x06, [isOn ? 1 : 0], now: now)
    }

    /// Tells the duration of a symbol and the rate of symbols, the preamble's symbols and duration, the slot and the fixed wait.
    private mutating func tellTiming(now: Instant) {
        let timing = RNodeTiming(settings)
        let symbol = settings.symbolMicroseconds
        let values = [
            symbol, 1_000_000 / max(1, symbol), Int64(timing.preambleSymbols), (Int64(timing.preambleSymbols) * symbol + 999) / 1000,
            timing.slotMicroseconds / 1000, timing.fixedMicroseconds / 1000,
        ]
        answer(0x26, values.flatMap { [UInt8].bigEndian(UInt16(truncatingIfNeeded: $0)) }, now: now)
    }

    private mutating func limit(_ type: UInt8, _ data: [UInt8], now: Instant) {
        guard data.count >= 2 else { return }
        let value = UInt16(clamping: data.prefix(2).bigEndianNumber)
        if type == 0x0B { limits.short = value } else { limits.long = value }
        answer(type, .bigEndian(value), now: now)
    }
}
