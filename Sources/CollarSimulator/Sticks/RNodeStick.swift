import CollarARQ
import CollarWire
import RadioModems

/// A stick with RNode firmware, as version 1.86 behaves on an ESP32.
///
/// One byte stands before each packet on the air; the stick puts it there and takes it away.
package struct RNodeStick: BaseStick {
    /// The most bytes of the host in one packet on the air; a longer one is split in two.
    static let partByteCount = 254
    /// The bit of the first byte on the air that marks a packet split in two.
    static let splitMark: UInt8 = 1

    private static let maximumPacketByteCount = 2 * partByteCount
    private static let queueCapacity = (packets: 200, bytes: 6144)
    /// Time between a packet's end on the air and its first byte on the line, in microseconds. (H: as with MeshCore.)
    private static let receptionMicroseconds: Int64 = 1200
    private static let statisticsMicroseconds: Int64 = 1_000_000

    /// The radio's settings. After power-up everything is zero.
    var settings = RadioSettings(frequencyHertz: 0, bandwidthHertz: 0, spreadingFactor: 0, codingRateDenominator: 0, powerDBm: 0)
    var toldPowerDBm: Int8 = 0
    var hasAmplifier = false
    /// The lowest power in the table of an amplifier, in dBm; the board can send with less. (`Boards.h` of 1.86, Heltec V4.)
    static let lowestAmplifiedDBm: Int8 = 13
    var isOn = false
    var isRefusingSettings = false
    /// The airtime that the host allows, in hundredths of a per cent; 0 for no limit.
    var limits = (short: UInt16(0), long: UInt16(0))

    /// How many commands have come that write the configuration or the ROM of a real board. A host must not send any.
    package internal(set) var dangerousCommandCount = 0

    private var line: StickLine
    private var random: SeededRandom
    // (H: the size of the buffer.)
    private var receiver = KISSReceiver(capacity: 1 + maximumPacketByteCount)
    private var queue: [[UInt8]] = []
    /// The packets that go on the air one after the other, the first of them now.
    private var flush: [[UInt8]] = []
    private var isOnAir = false
    private var contention: RNodeContention?
    private var nextStatistics = Instant.never
    private var airtime = ChannelLoad()
    private var channelLoad = ChannelLoad()
    private var window: Int64 = 1
    private var channelBusySince: Instant?
    private var busyEnd = Instant(microseconds: 0)
    private var fullEnd = Instant(microseconds: 0)
    /// The first half of a packet that was split in two.
    private var firstHalf: [UInt8]?

    /// Creates a stick that has just been powered up. It says so.
    package init(timing: LineTiming = .uart, seed: UInt64 = 0) {
        line = StickLine(timing: timing)
        random = SeededRandom(seed: seed)
        sayStarted(after: 0, now: Instant(microseconds: 0))
    }

    package var dialect: Dialect { .rnode }
    package var radio: StickRadio { isOn ? .on(settings) : .off }
    package var isTakingInput: Bool { line.isTakingInput }

    package var nextDeadline: Instant { min(line.nextOutput, nextStep) }

    /// When the firmware has something to do. It does not hear the host while it transmits.
    private var nextStep: Instant {
        if !flush.isEmpty { return .never }
        return min(line.nextInput, line.whenUp(contention?.end ?? .never), line.whenUp(nextStatistics))
    }

    package mutating func receive(_ bytes: [UInt8], now: Instant) {
        line.receive(bytes, delimiters: [KISS.frameEnd], now: now)
    }

    package mutating func hear(_ packet: [UInt8], signal: RadioSignal, now: Instant) {
        guard !line.isDown(at: now), isOn, flush.isEmpty, let first = packet.first else { return }
        channelLoad.add(
            from: now.advanced(byMicroseconds: -airtimeMicroseconds(onAir: packet)),
            microseconds: airtimeMicroseconds(onAir: packet))
        var data = Array(packet.dropFirst())
        if first & Self.splitMark != 0 {
            guard let half = firstHalf else {
                firstHalf = data
                return
            }
            data = half + data
        }
        firstHalf = nil
        let quarters = Int(signal.signalToNoiseTenthsDB ?? 0) * 4 / 10
        line.send(
            KISS.frame(0x23, [UInt8(truncatingIfNeeded: Int(signal.strengthDBm) + 157)])
                + KISS.frame(0x24, [UInt8(truncatingIfNeeded: quarters)]) + KISS.frame(0, data),
            after: Self.receptionMicroseconds, now: now)
    }

    package mutating func noteChannel(isBusy: Bool, now: Instant) {
        channelBusySince = isBusy ? channelBusySince ?? now : nil
        guideContention(now: now)
    }

    package mutating func advance(to now: Instant) {
        guard !line.isDown(at: now) else { return }
        while true {
            let due = nextStep
            guard due <= now else { return }
            if line.nextInput == due {
                // What came in during a transmission is processed after it.
                for byte in line.removeInput() {
                    if let frame = receiver.take(byte) { process(frame, now: now) }
                }
            } else if let current = contention, line.whenUp(current.end) == due {
                if current.isCounting {
                    contention = nil
                    let count = RNodeTiming(settings).sendsTogether ? queue.count : 1
                    flush = Array(queue.prefix(count))
                    queue.removeFirst(flush.count)
                }
            } else {
                nextStatistics = now.advanced(byMicroseconds: Self.statisticsMicroseconds)
                sendStatistics(now: now)
            }
            guideContention(now: now)
        }
    }

    package mutating func takeOutput(now: Instant) -> [UInt8] { line.takeOutput(now: now) }

    package mutating func nextTransmission(now: Instant) -> StickTransmission? {
        guard !isOnAir, let packet = flush.first, !line.isDown(at: now) else { return nil }
        isOnAir = true
        let airtimeMicroseconds = airtimeMicroseconds(onAir: packet)
        airtime.add(from: now, microseconds: airtimeMicroseconds)
        channelLoad.add(from: now, microseconds: airtimeMicroseconds)
        return StickTransmission(packet: packet, airtimeMicroseconds: airtimeMicroseconds)
    }

    package mutating func transmissionEnded(now: Instant) {
        guard isOnAir else { return }
        isOnAir = false
        flush.removeFirst()
        guard flush.isEmpty else { return }
        sendStatistics(now: now)
        guideContention(now: now)
    }

    package mutating func cause(_ fault: StickFault, now: Instant) {
        switch fault {
        case .reset: restart(now: now)
        case .stall: line.stall(now: now)
        case .garbage: line.sendGarbage(&random, now: now)
        case .refuse: isRefusingSettings = true
        case .amplifier: hasAmplifier = true
        case .full: fullEnd = now.advanced(byMicroseconds: StickFault.refusalMicroseconds)
        case .busy:
            busyEnd = now.advanced(byMicroseconds: StickFault.refusalMicroseconds)
            guideContention(now: now)
        case .stuck: break
        }
    }

    /// Forgets everything, and says that it has started.
    mutating func restart(now: Instant) {
        let (random, busySince, dangerous, amplifier) = (random, channelBusySince, dangerousCommandCount, hasAmplifier)
        var line = line
        line.restart(now: now)
        self = RNodeStick()
        self.line = line
        self.random = random
        channelBusySince = busySince
        dangerousCommandCount = dangerous
        hasAmplifier = amplifier
        sayStarted(after: StickLine.bootMicroseconds, now: now)
    }

    private mutating func sayStarted(after delay: Int64, now: Instant) {
        line.send(KISS.frame(0x55, [0xF8]), after: delay, now: now)
    }

    mutating func answer(_ type: UInt8, _ data: [UInt8], now: Instant) { line.send(KISS.frame(type, data), now: now) }

    /// Whether a packet of `byteCount` bytes has room in the queue.
    func hasRoom(for byteCount: Int, now: Instant) -> Bool {
        now >= fullEnd && queue.count < Self.queueCapacity.packets
            && queue.reduce(0, { $0 + $1.count - 1 }) + byteCount <= Self.queueCapacity.bytes
    }

    /// Queues a packet. It waits, without a word, until the radio is on.
    mutating func queuePacket(_ data: [UInt8], now: Instant) {
        guard (1...Self.maximumPacketByteCount).contains(data.count) else { return }
        guard hasRoom(for: data.count, now: now) else { return answer(0x90, [4], now: now) }
        let mark = UInt8(truncatingIfNeeded: random.next()) & 0xF0
        guard data.count > Self.partByteCount else { return queue.append([mark] + data) }
        queue.append([mark | Self.splitMark] + data.prefix(Self.partByteCount))
        queue.append([mark | Self.splitMark] + data.dropFirst(Self.partByteCount))
    }

    /// Begins to send the statistics about once a second, or ends it.
    mutating func setRadio(on: Bool, now: Instant) {
        isOn = on
        nextStatistics = on ? now.advanced(byMicroseconds: Self.statisticsMicroseconds) : .never
        if !on { contention = nil }
    }

    /// Begins a contention if a packet waits and may be sent, and tells the contention whether the channel is free.
    private mutating func guideContention(now: Instant) {
        guard isOn, flush.isEmpty, !queue.isEmpty, !exceedsLimits(now: now) else { return }
        let isFree = channelBusySince == nil && now >= busyEnd
        var current = contention ?? drawContention(now: now)
        current.note(isFree: isFree, now: now)
        if !isFree, channelBusySince == nil { current.nextLook = busyEnd }
        contention = current
    }

    /// Draws 0 … 14 slots; after much airtime 15 … 28, 30 … 43, or 45 … 58.
    private mutating func drawContention(now: Instant) -> RNodeContention {
        let slots = (window - 1) * RNodeTiming.windowSlots + Int64(random.next() % UInt64(RNodeTiming.windowSlots - (window > 1 ? 1 : 0)))
        return RNodeContention(RNodeTiming(settings), slots: slots)
    }

    /// Chooses the window by the airtime, and tells a change: its number, its first slot and its last one.
    private mutating func chooseWindow(now: Instant) {
        let chosen = RNodeTiming.window(
            afterHundredthsOfPercent: airtime.hundredthsOfPercent(inLast: ChannelLoad.shortMicroseconds, now: now))
        guard chosen != window else { return }
        window = chosen
        answer(0x28, [chosen, (chosen - 1) * RNodeTiming.windowSlots, chosen * RNodeTiming.windowSlots - 1].map { UInt8($0) }, now: now)
    }

    private func exceedsLimits(now: Instant) -> Bool {
        let short = airtime.hundredthsOfPercent(inLast: ChannelLoad.shortMicroseconds, now: now)
        let long = airtime.hundredthsOfPercent(inLast: ChannelLoad.longMicroseconds, now: now)
        return limits.short > 0 && short >= limits.short || limits.long > 0 && long >= limits.long
    }

    private func airtimeMicroseconds(onAir packet: [UInt8]) -> Int64 {
        // The profile counts the firmware's own byte itself.
        settings.profile(of: .rnode).airtimeMicroseconds(frameByteCount: packet.count - 1)
    }

    /// Airtime and channel load, each in two windows; what the radio measures now, the noise, and no interference.
    private mutating func sendStatistics(now: Instant) {
        chooseWindow(now: now)
        var data: [UInt8] = []
        for load in [airtime, channelLoad] {
            data += .bigEndian(load.hundredthsOfPercent(inLast: ChannelLoad.shortMicroseconds, now: now))
            data += .bigEndian(load.hundredthsOfPercent(inLast: ChannelLoad.longMicroseconds, now: now))
        }
        answer(0x25, data + [47, 47, 0xFF], now: now)
    }

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

/// How RNode firmware listens before it talks: the channel must be free for two slots, and then for a number of slots that was
/// drawn. While the channel is busy, the rest of these slots waits.
struct RNodeContention: Sendable {
    private let timing: RNodeTiming
    private var slots: Int64
    private var freeSince: Instant?
    /// When to look at the channel again, while it is busy.
    var nextLook = Instant.never

    init(_ timing: RNodeTiming, slots: Int64) {
        self.timing = timing
        self.slots = slots
    }

    /// Whether the channel is free, and slots pass.
    var isCounting: Bool { freeSince != nil }

    /// When the packet goes on the air if the channel stays free; while it is busy, when to look at it again.
    var end: Instant {
        guard let freeSince else { return nextLook }
        return freeSince.advanced(byMicroseconds: timing.longestWait(slots: slots))
    }

    mutating func note(isFree: Bool, now: Instant) {
        if isFree {
            freeSince = freeSince ?? now
        } else if let since = freeSince {
            let passed = (now.microseconds(since: since) - timing.fixedMicroseconds) / timing.slotMicroseconds
            slots -= passed.clamped(to: 0...slots)
            freeSince = nil
        }
        nextLook = .never
    }
}

/// The part of the time in which a radio sends, or a channel is in use, as RNode firmware reports it. The firmware counts in steps of
/// 7.5 s, the present one and the one before; this counts the last 15 s. Its other count is that of an hour.
struct ChannelLoad: Sendable {
    static let shortMicroseconds: Int64 = 15_000_000
    static let longMicroseconds: Int64 = 3_600_000_000

    private var spans: [(start: Instant, end: Instant)] = []

    mutating func add(from start: Instant, microseconds: Int64) {
        let end = start.advanced(byMicroseconds: microseconds)
        let oldest = end.advanced(byMicroseconds: -Self.longMicroseconds)
        if let first = spans.first, first.end < oldest { spans.removeAll { $0.end < oldest } }
        spans.append((start, end))
    }

    /// The part of a window that ends now, in hundredths of a per cent.
    func hundredthsOfPercent(inLast window: Int64, now: Instant) -> UInt16 {
        let begin = now.advanced(byMicroseconds: -window)
        var used: Int64 = 0
        for span in spans where span.end > begin {
            used += max(0, min(span.end, now).microseconds(since: max(span.start, begin)))
        }
        return UInt16(clamping: used * 10_000 / window)
    }
}
