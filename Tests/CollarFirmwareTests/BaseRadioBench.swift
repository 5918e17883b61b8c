import CollarARQ
import CollarFirmware
import CollarWire

/// A base radio, its host and its air, without time of their own.
struct BaseRadioBench: ~Copyable {
    static let identity = RadioIdentity(
        radioID: 0xFEDC_BA98_7654_3210, firmwareVersion: FirmwareVersion(major: 2, minor: 0, patch: 11),
        maximumFrameByteCount: 200)
    static let modem = ModemSettings(modulation: .serial(bitsPerSecond: 10_000), turnaroundMilliseconds: 100)

    var radio: BaseRadio
    var now = Instant(microseconds: 0)
    /// What the host's end of the line has decoded.
    private var hostStream = StreamDecoder()

    /// - Parameter isIntroduced: whether the host has already read what the base radio says of itself after its start.
    init(dutyCyclePartsPerMillion: Int64? = nil, isIntroduced: Bool = true) {
        radio = BaseRadio(
            BaseRadio.Configuration(
                identity: Self.identity, modem: Self.modem, dutyCyclePartsPerMillion: dutyCyclePartsPerMillion),
            now: now)
        if isIntroduced { _ = readAll() }
    }

    /// The next bytes for the host; empty if there are none.
    mutating func nextBytes() -> [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: Frame.maximumByteCount)) { output in
            _ = radio.nextHostFrame(into: &output)
        }
    }

    /// The frames that a host gets that reads everything now.
    mutating func readAll() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while case let bytes = nextBytes(), !bytes.isEmpty {
            var index = 0
            while let event = hostStream.next(in: bytes.span, at: &index) {
                precondition(event == .frame, "the base radio sends only frames")
                let frame = hostStream.frame
                frames.append(frame.indices.map { frame[$0] })
            }
        }
        return frames
    }

    /// The host writes a frame.
    mutating func write(_ frame: [UInt8]) {
        let bytes = [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
        radio.receiveFromHost(bytes.span, now: now)
    }

    /// The packet that goes on the air now; nil if none does. It stays on the air.
    mutating func nextPacket() -> [UInt8]? {
        let packet = [UInt8](capacity: Frame.maximumByteCount) { output in _ = radio.nextPacket(now: now, into: &output) }
        return packet.isEmpty ? nil : packet
    }

    /// Sends the packets that go on the air now, each as long as its airtime is.
    mutating func sendAll() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = nextPacket() {
            packets.append(packet)
            wait(microseconds: radio.airtimeMicroseconds(packetByteCount: packet.count))
            radio.transmissionEnded(now: now)
        }
        return packets
    }

    mutating func hear(_ packet: [UInt8], strengthDBm: Int16 = -97) {
        radio.receive(packet: packet.span, signal: RadioSignal(strengthDBm: strengthDBm, signalToNoiseTenthsDB: -35))
    }

    mutating func wait(microseconds: Int64) { now = now.advanced(byMicroseconds: microseconds) }
}

/// A packet to or from the collar at `address`, which ends with three bytes that tell it from others.
func packet(_ number: Int, address: UInt8 = 9, byteCount: Int = 20) -> [UInt8] {
    [0x22, 0, address] + [UInt8](repeating: UInt8(number & 0xFF), count: byteCount - 5) + [0, UInt8(number & 0xFF)]
}

/// The CRC at the end of a packet.
func sentCRC(of packet: [UInt8]) -> UInt32 { packet.suffix(3).reduce(0) { $0 << 8 | UInt32($1) } }

/// An identity request of a host.
func identityRequest(address: UInt8) throws -> [UInt8] {
    try [UInt8](capacity: Frame.maximumByteCount) { output in
        try IdentityRequest(receiverID: 0x1234_5678).encode(address: address, into: &output)
    }
}

/// The messages in frames whose CRC is not bound to a log.
func unboundMessages(in frames: [[UInt8]]) throws -> [Message] {
    try frames.map { try Message.decode($0.span, log: nil, reference: 0) }
}
