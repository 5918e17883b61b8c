/// The identity of a base radio. Its frame has address 0 and a CRC that is not bound to a log. A receiver ignores bytes that
/// follow the last field.
public struct RadioIdentity: Equatable, Sendable {
    /// Factory id of the radio, 64 bits.
    public var radioID: UInt64
    /// Version of the radio's firmware.
    public var firmwareVersion: FirmwareVersion
    /// The largest frame that the radio carries, 51 … 253 bytes.
    public var maximumFrameByteCount: UInt8

    /// Creates an identity.
    public init(radioID: UInt64, firmwareVersion: FirmwareVersion, maximumFrameByteCount: UInt8) {
        self.radioID = radioID
        self.firmwareVersion = firmwareVersion
        self.maximumFrameByteCount = maximumFrameByteCount
    }

    /// Appends the bare frame.
    public func encode(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        let frameLimit = UInt32(maximumFrameByteCount)
        payload.require(Frame.isLimit(frameLimit), .frameLimit, frameLimit)
        payload.write(wide: radioID)
        payload.write(UInt32(firmwareVersion.major), 8)
        payload.write(UInt32(firmwareVersion.minor), 8)
        payload.write(UInt32(firmwareVersion.patch), 8)
        payload.write(frameLimit, 8)
        try payload.encode(as: .radioIdentity, address: Frame.baseRadioAddress, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        radioID = reader.readWide()
        firmwareVersion = FirmwareVersion(
            major: UInt8(reader.read(8)), minor: UInt8(reader.read(8)), patch: UInt8(reader.read(8)))
        let frameLimit = reader.read(8)
        reader.require(Frame.isLimit(frameLimit), .frameLimit, frameLimit)
        maximumFrameByteCount = UInt8(frameLimit)
        try reader.checkNotPastEnd()
    }
}

/// The settings of a base radio's modem, from which airtime is computed. Their frame has address 0 and a CRC that is not bound
/// to a log.
public struct ModemSettings: Equatable, Sendable {
    /// The modulation; eight bits.
    public enum Modulation: Equatable, Sendable {
        /// A serial cable, or a link that behaves like one.
        case serial(bitsPerSecond: UInt32)
        /// LoRa.
        case lora(LoRaSettings)
    }

    /// The modulation.
    public var modulation: Modulation
    /// The longest time from the end of a frame to the start of its answer, in milliseconds.
    public var turnaroundMilliseconds: UInt16

    /// Creates settings.
    public init(modulation: Modulation, turnaroundMilliseconds: UInt16) {
        self.modulation = modulation
        self.turnaroundMilliseconds = turnaroundMilliseconds
    }

    /// Appends the bare frame.
    public func encode(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        switch modulation {
        case .serial(let bitsPerSecond):
            payload.require(bitsPerSecond > 0, .modulation, 0)
            payload.write(0, 8)
            payload.write(UInt32(turnaroundMilliseconds), 16)
            payload.write(bitsPerSecond, 32)
        case .lora(let settings):
            payload.write(1, 8)
            payload.write(UInt32(turnaroundMilliseconds), 16)
            settings.write(into: &payload)
        }
        try payload.encode(as: .modemSettings, address: Frame.baseRadioAddress, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        let kind = reader.read(8)
        reader.require(kind <= 1, .modulation, kind)
        turnaroundMilliseconds = UInt16(reader.read(16))
        if kind == 0 {
            let bitsPerSecond = reader.read(32)
            reader.require(bitsPerSecond > 0, .modulation, 0)
            modulation = .serial(bitsPerSecond: bitsPerSecond)
        } else {
            modulation = .lora(LoRaSettings(from: &reader))
        }
        try reader.checkEnd()
    }
}

/// Settings of a LoRa modem.
public struct LoRaSettings: Equatable, Sendable {
    /// Carrier frequency, in hertz.
    public var frequencyHertz: UInt32
    /// Bandwidth, in hertz; not 0.
    public var bandwidthHertz: UInt32
    /// Spreading factor, 5 … 12.
    public var spreadingFactor: UInt8
    /// Denominator of the coding rate 4/5 … 4/8: 5 … 8.
    public var codingRateDenominator: UInt8
    /// Symbols of the preamble, without the sync word.
    public var preambleSymbols: UInt16
    /// Whether frames have LoRa's own header.
    public var hasExplicitHeader: Bool
    /// Whether frames have LoRa's own CRC.
    public var hasCRC: Bool
    /// Whether LoRa's low data rate optimisation is on.
    public var optimizesLowDataRate: Bool
    /// Transmit power, −128 … 127 dBm.
    public var powerDBm: Int8

    /// Creates settings.
    public init(
        frequencyHertz: UInt32, bandwidthHertz: UInt32, spreadingFactor: UInt8, codingRateDenominator: UInt8,
        preambleSymbols: UInt16, hasExplicitHeader: Bool, hasCRC: Bool, optimizesLowDataRate: Bool, powerDBm: Int8
    ) {
        self.frequencyHertz = frequencyHertz
        self.bandwidthHertz = bandwidthHertz
        self.spreadingFactor = spreadingFactor
        self.codingRateDenominator = codingRateDenominator
        self.preambleSymbols = preambleSymbols
        self.hasExplicitHeader = hasExplicitHeader
        self.hasCRC = hasCRC
        self.optimizesLowDataRate = optimizesLowDataRate
        self.powerDBm = powerDBm
    }

    fileprivate func write(into payload: inout BitWriter) {
        payload.require(bandwidthHertz > 0, .modulation, 0)
        payload.require((5...12).contains(spreadingFactor), .modulation, UInt32(spreadingFactor))
        payload.require((5...8).contains(codingRateDenominator), .modulation, UInt32(codingRateDenominator))
        payload.write(frequencyHertz, 32)
        payload.write(bandwidthHertz, 32)
        payload.write(UInt32(spreadingFactor), 4)
        payload.write(UInt32(codingRateDenominator &- 5), 2)
        payload.write(hasExplicitHeader ? 1 : 0, 1)
        payload.write(hasCRC ? 1 : 0, 1)
        payload.write(optimizesLowDataRate ? 1 : 0, 1)
        payload.write(0, 7)
        payload.write(UInt32(preambleSymbols), 16)
        payload.writeSigned(Int32(powerDBm), 8)
    }

    fileprivate init(from reader: inout BitReader) {
        frequencyHertz = reader.read(32)
        bandwidthHertz = reader.read(32)
        reader.require(bandwidthHertz > 0, .modulation, 0)
        let factor = reader.read(4)
        reader.require((5...12).contains(factor), .modulation, factor)
        spreadingFactor = UInt8(factor)
        codingRateDenominator = UInt8(reader.read(2)) + 5
        hasExplicitHeader = reader.read(1) == 1
        hasCRC = reader.read(1) == 1
        optimizesLowDataRate = reader.read(1) == 1
        _ = reader.read(7)
        preambleSymbols = UInt16(reader.read(16))
        powerDBm = Int8(reader.readSigned(8))
    }
}

/// How well a radio received a packet.
public struct RadioSignal: Equatable, Sendable {
    /// Received strength in dBm.
    public var strengthDBm: Int16
    /// Signal-to-noise ratio in tenths of a decibel; nil when the radio does not report it. −3276.8 dB cannot be
    /// sent, because its code means nil.
    public var signalToNoiseTenthsDB: Int16?

    /// Creates a signal from the measured values.
    public init(strengthDBm: Int16, signalToNoiseTenthsDB: Int16? = nil) {
        self.strengthDBm = strengthDBm
        self.signalToNoiseTenthsDB = signalToNoiseTenthsDB
    }
}

/// How well a base radio received a packet. The report is sent after the packet; its frame has address 0 and a CRC that is not
/// bound to a log.
public struct SignalReport: Equatable, Sendable {
    /// CRC of the packet that the report is about, 24 bits.
    public var packetCRC: UInt32
    /// How well the base radio received the packet.
    public var signal: RadioSignal

    /// Creates a report.
    public init(packetCRC: UInt32, signal: RadioSignal) {
        self.packetCRC = packetCRC
        self.signal = signal
    }

    /// Appends the bare frame.
    public func encode(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard packetCRC < 1 &<< 24 else { throw .field(.packetCRC, value: packetCRC) }
        guard signal.signalToNoiseTenthsDB != .min else { throw .field(.signalToNoise, value: 32_768) }
        var payload = BitWriter()
        payload.write(packetCRC, 24)
        payload.writeSigned(Int32(signal.strengthDBm), 16)
        payload.writeSigned(Int32(signal.signalToNoiseTenthsDB ?? .min), 16)
        try payload.encode(as: .signalReport, address: Frame.baseRadioAddress, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        packetCRC = reader.read(24)
        signal = RadioSignal(strengthDBm: Int16(reader.readSigned(16)))
        let noise = reader.readSigned(16)
        if noise != Int32(Int16.min) { signal.signalToNoiseTenthsDB = Int16(noise) }
        try reader.checkEnd()
    }
}
