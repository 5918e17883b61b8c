import CollarARQ
import CollarWire

/// The firmware of a base radio, the stick in the USB port: bytes of the host on one side, packets of the air on the other.
///
/// Packets and frames pass unchanged; their CRC is not looked at, because it is bound to a log that only their receiver knows.
/// The base radio adds a signal report after each packet, and speaks of itself with address 0 (PROTOCOL.md, section 17).
///
/// The caller owns the clock, the line and the radio. It calls ``receiveFromHost(_:now:)`` and ``receive(packet:signal:)`` with
/// what comes in, ``nextHostFrame(into:)`` whenever the line takes bytes, and ``nextPacket(now:into:)`` whenever the radio can
/// send and ``nextDeadline(now:)`` has come.
public struct BaseRadio: ~Copyable {
    /// The identity of a base radio, and how its radio is set.
    public struct Configuration: Equatable, Sendable {
        /// The identity that the base radio sends. Packets longer than its largest frame are dropped.
        public var identity: RadioIdentity
        /// The settings of the radio. Airtime is computed from them.
        public var modem: ModemSettings
        /// The part of every hour in which the base radio may send, in millionths; nil for no limit.
        public var dutyCyclePartsPerMillion: Int64?

        /// Creates a configuration.
        public init(identity: RadioIdentity, modem: ModemSettings, dutyCyclePartsPerMillion: Int64? = nil) {
            self.identity = identity
            self.modem = modem
            self.dutyCyclePartsPerMillion = dutyCyclePartsPerMillion
        }
    }

    /// The frame of the base radio itself that is sent to the host next.
    private enum Introduction {
        case identity
        case modemSettings
    }

    private let configuration: Configuration
    private let profile: ModemProfile
    private var budget: AirtimeBudget?
    private var stream = StreamDecoder()
    private var introduction: Introduction? = .identity
    private var dueReport: SignalReport?
    private var packets = PacketQueue<RadioSignal, 8, 2024>(note: RadioSignal(strengthDBm: 0))
    /// Frames of the host. Their notes tell when they came.
    private var frames: PacketQueue<Instant, 4, 1012>
    private var isTransmitting = false
    private var lastTransmissionEnd: Instant

    /// Starts a base radio. The budget of its duty cycle is empty, so that a restart gains no airtime.
    public init(_ configuration: Configuration, now: Instant) {
        self.configuration = configuration
        profile = ModemProfile(configuration.modem)
        let largest = profile.airtimeMicroseconds(frameByteCount: Int(configuration.identity.maximumFrameByteCount))
        budget = configuration.dutyCyclePartsPerMillion.map {
            AirtimeBudget(partsPerMillion: $0, largestFrameMicroseconds: largest, now: now)
        }
        frames = PacketQueue(note: now)
        lastTransmissionEnd = now
    }

    /// Airtime of a packet with the settings of the radio, in microseconds.
    public func airtimeMicroseconds(packetByteCount: Int) -> Int64 {
        profile.airtimeMicroseconds(frameByteCount: packetByteCount)
    }

    /// Receives a packet from the air. It is dropped if it cannot be a frame, or if its address is that of a base radio: nobody
    /// on the air may speak in the name of this one. If the host does not read, the oldest packets are dropped.
    public mutating func receive(packet: Span<UInt8>, signal: RadioSignal) {
        guard packet.count >= Frame.overheadByteCount, packet.count <= Frame.maximumByteCount,
            BaseRadio.address(of: packet) != Frame.baseRadioAddress
        else { return }
        packets.append(packet, note: signal)
    }

    /// Appends the next frame for the host, with the stuffing and the delimiters of a serial line. A frame that was taken must be
    /// written whole.
    ///
    /// `output` is empty and has room for `StreamEncoder.encodedByteCount(for:)` of the largest frame.
    /// - Returns: whether a frame was appended.
    public mutating func nextHostFrame(into output: inout OutputSpan<UInt8>) -> Bool {
        let frame = FrameBuffer { takeHostFrame(into: &$0) }
        guard frame.bytes.count > 0 else { return false }
        StreamEncoder.encode(frame.bytes, into: &output)
        return true
    }

    /// A report comes right after its packet; else the host could not tell which packet it is about.
    private mutating func takeHostFrame(into frame: inout OutputSpan<UInt8>) {
        do throws(EncodeError) {
            if let report = dueReport {
                dueReport = nil
                try report.encode(into: &frame)
            } else if let next = introduction {
                switch next {
                case .identity:
                    introduction = .modemSettings
                    try configuration.identity.encode(into: &frame)
                case .modemSettings:
                    introduction = nil
                    try configuration.modem.encode(into: &frame)
                }
            } else if packets.count > 0 {
                let signal = packets.firstNote
                packets.moveFirst(to: &frame)
                dueReport = SignalReport(packetCRC: FrameCRC.sent(in: frame.span), signal: signal)
            }
        } catch { preconditionFailure("the configuration and the signals are in range") }
    }

    /// Receives bytes of the host. Frames to address 0 are for the base radio itself. All others go to the air as they are; those
    /// that the radio cannot carry are dropped.
    ///
    /// The base radio introduces itself to a host that asks it, or everybody, for an identity: so does a host that has just
    /// opened the port.
    public mutating func receiveFromHost(_ bytes: Span<UInt8>, now: Instant) {
        var index = 0
        while let event = stream.next(in: bytes, at: &index) {
            guard event == .frame else { continue }
            let frame = stream.frame
            let address = BaseRadio.address(of: frame)
            if address == Frame.baseRadioAddress || address == Frame.broadcastAddress, BaseRadio.asksForIdentity(frame) {
                introduction = .identity
            }
            guard address != Frame.baseRadioAddress,
                frame.count <= Int(configuration.identity.maximumFrameByteCount)
            else { continue }
            frames.append(frame, note: now)
        }
    }

    /// Appends the packet that the radio is to send now. After sending it, call ``transmissionEnded(now:)``.
    ///
    /// A collar listens only for the turnaround after its poll. So a frame that could not be sent for so long, because of the duty
    /// cycle or because the radio was not ready, is dropped: nobody listens any more, and it could destroy a packet of a collar.
    ///
    /// `output` is empty and has room for the largest frame.
    /// - Returns: whether a packet was appended.
    public mutating func nextPacket(now: Instant, into output: inout OutputSpan<UInt8>) -> Bool {
        guard !isTransmitting else { return false }
        while let end = waitEnd, end < now { frames.removeFirst() }
        guard frames.count > 0 else { return false }
        let airtime = airtimeMicroseconds(packetByteCount: frames.firstByteCount)
        budget?.refill(now: now)
        if let budget, budget.earliest(airtimeMicroseconds: airtime, now: now) > now { return false }
        budget?.spend(airtimeMicroseconds: airtime)
        frames.moveFirst(to: &output)
        isTransmitting = true
        return true
    }

    /// Notes that the radio has sent the packet.
    public mutating func transmissionEnded(now: Instant) {
        isTransmitting = false
        lastTransmissionEnd = now
    }

    /// When to call ``nextPacket(now:into:)`` if nothing else happens; nil if no frame of the host waits, or while the radio sends.
    public mutating func nextDeadline(now: Instant) -> Instant? {
        guard !isTransmitting, let waitEnd else { return nil }
        budget?.refill(now: now)
        guard let budget else { return now }
        let earliest = budget.earliest(airtimeMicroseconds: airtimeMicroseconds(packetByteCount: frames.firstByteCount), now: now)
        return min(earliest, waitEnd.advanced(byMicroseconds: 1))
    }

    /// Until when the oldest frame of the host waits; nil if none waits. The time in which frames before it are sent does not
    /// count.
    private var waitEnd: Instant? {
        mutating get {
            guard frames.count > 0 else { return nil }
            let turnaround = Int64(widening: UInt32(configuration.modem.turnaroundMilliseconds)) * 1000
            return max(frames.firstNote, lastTransmissionEnd).advanced(byMicroseconds: turnaround)
        }
    }

    private static func address(of frame: Span<UInt8>) -> UInt8 { frame[2] }

    private static func asksForIdentity(_ frame: Span<UInt8>) -> Bool {
        do throws(DecodeError) {
            return try FrameHeader(frame).type == .identityRequest && FrameCRC.isValid(frame, log: nil)
        } catch { return false }
    }
}

// MARK: - From the air to the host

// MARK: - From the host to the air

/// Packets that wait in a base radio, each with a note, oldest first, in storage of fixed size.
///
/// A packet that comes while the queue is full takes the place of the oldest one. A collar repeats what is not acknowledged, and
/// a host what is not answered, so the newest packet is worth most: the answer that is awaited now is the one to the last poll.
///
/// `byteCapacity` is 253 times `capacity`. The compiler copies a large value whole to read a part of it, unless the method may change
/// it: so all methods are mutating, and what is read often is kept beside the arrays.
struct PacketQueue<Note, let capacity: Int, let byteCapacity: Int>: ~Copyable {
    private var bytes = InlineArray<byteCapacity, UInt8>(repeating: 0)
    private var byteCounts = InlineArray<capacity, UInt8>(repeating: 0)
    private var notes: InlineArray<capacity, Note>
    private var firstPlace = 0
    private(set) var count = 0
    /// The note of the oldest packet; without a meaning if no packet waits.
    private(set) var firstNote: Note
    /// Bytes of the oldest packet; without a meaning if no packet waits.
    private(set) var firstByteCount = 0

    /// An empty queue.
    /// - Parameter note: fills the empty places.
    init(note: Note) {
        precondition(byteCapacity == capacity * Frame.maximumByteCount, "each packet has a place")
        notes = InlineArray(repeating: note)
        firstNote = note
    }

    /// Adds a packet of at most 253 bytes.
    mutating func append(_ packet: Span<UInt8>, note: Note) {
        precondition(packet.count <= Frame.maximumByteCount, "a packet is a frame")
        if count == capacity { removeFirst() }
        let place = (firstPlace + count) % capacity
        for index in packet.indices { bytes[place * Frame.maximumByteCount + index] = packet[index] }
        byteCounts[place] = UInt8(packet.count)
        notes[place] = note
        count += 1
        noteFirst()
    }

    /// Moves the oldest packet to `output`, which has room for it.
    mutating func moveFirst(to output: inout OutputSpan<UInt8>) {
        let start = firstPlace * Frame.maximumByteCount
        for index in start..<(start + firstByteCount) { output.append(bytes[index]) }
        removeFirst()
    }

    mutating func removeFirst() {
        firstPlace = (firstPlace + 1) % capacity
        count -= 1
        noteFirst()
    }

    private mutating func noteFirst() {
        firstNote = notes[firstPlace]
        firstByteCount = Int(byteCounts[firstPlace])
    }
}
