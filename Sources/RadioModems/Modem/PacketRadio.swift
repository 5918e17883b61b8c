import CollarARQ
import CollarWire

/// A stick as the radio of a collar: it sends one frame at a time, and keeps the frames that it hears until they are taken. It has no
/// clock and opens no port.
///
///     radio.receive(bytes, at: now)      // or send(_:at:), or deadlineReached(at:)
///     port.write(radio.takeBytes())
package struct PacketRadio: Sendable {
    package enum State: Equatable, Sendable {
        /// No port is open, or the stick is not set up.
        case failed
        case ready
        case sending
    }

    /// Frames that are kept; the oldest is dropped for one more.
    private static let frameLimit = 64
    /// The timing of a serial line, on which frames count as sent after their time at 57,600 bit/s.
    package static let line = ModemProfile.serial(bitsPerSecond: 57_600)

    private let configuration: ModemConfiguration
    private var modem: RadioModem?
    private var stream = StreamDecoder()
    private var frames: [[UInt8]] = []
    private var notices: [ModemNotice] = []
    private var bytes: [UInt8] = []
    /// When the frame has been sent that the stick does not report.
    private var transmissionEnd: Instant?
    /// The dialect of the stick that was found last, which is asked for first when the port opens again.
    package private(set) var dialect: Dialect?

    /// - Parameter configuration: the limits of duty cycle in it do not count: the collar keeps to them itself.
    package init(_ configuration: ModemConfiguration) {
        var configuration = configuration
        configuration.limits?.dutyCyclePartsPerMillion = nil
        self.configuration = configuration
        dialect = configuration.dialect
    }

    /// A port was opened.
    package mutating func opened(_ kind: RadioModem.PortKind, roundTripMicroseconds: Int64 = 0, at now: Instant) {
        stream = StreamDecoder()
        modem = RadioModem(
            configuration, kind: kind, remembered: dialect, isRested: true, roundTripMicroseconds: roundTripMicroseconds, at: now)
        takeEvents(at: now)
    }

    /// The port was closed. The frame that was being sent is lost.
    package mutating func closed() {
        modem = nil
        transmissionEnd = nil
        bytes = []
    }

    package func state(at now: Instant) -> State {
        guard let modem, modem.isReady else { return .failed }
        return modem.isSending || transmissionEnd.map { now < $0 } == true ? .sending : .ready
    }

    /// When to call ``deadlineReached(at:)``, or to look at the state again; nil if nothing is expected.
    package var nextDeadline: Instant? { [modem?.nextDeadline, transmissionEnd].compactMap { $0 }.min() }

    /// Begins to send a bare frame. It is dropped if the radio is not ready.
    package mutating func send(_ frame: [UInt8], at now: Instant) {
        guard state(at: now) == .ready else { return }
        guard modem?.isSerialLine == true else {
            modem?.send(frame)
            modem?.flush(at: now)
            return takeEvents(at: now)
        }
        bytes += [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
        transmissionEnd = now.advanced(byMicroseconds: PacketRadio.line.airtimeMicroseconds(frameByteCount: frame.count))
    }

    /// Bytes have come in at the port.
    package mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
        if modem?.isTransparent == true { return decode(bytes) }
        modem?.receive(bytes, at: now)
        takeEvents(at: now)
    }

    package mutating func deadlineReached(at now: Instant) {
        if let end = transmissionEnd, end <= now { transmissionEnd = nil }
        guard let due = modem?.nextDeadline, due <= now else { return }
        modem?.deadlineReached(at: now)
        takeEvents(at: now)
    }

    private mutating func takeEvents(at now: Instant) {
        while let event = modem?.nextEvent() {
            switch event {
            case .serialLine(let bytes), .serialBytes(let bytes): decode(bytes.span)
            case .packet(let packet, _): keep(packet)
            case .transmits(let microseconds):
                if modem?.dialect == .rnode { transmissionEnd = now.advanced(byMicroseconds: microseconds) }
            case .notice(let notice): notices.append(notice)
            case .ready, .timing, .airtime: break
            }
        }
        // A serial line may only be assumed.
        if let modem, modem.dialect != .serial || modem.isTransparent { dialect = modem.dialect ?? dialect }
        bytes += modem?.takeBytes() ?? []
    }

    private mutating func decode(_ bytes: Span<UInt8>) {
        var index = 0
        var heard: [[UInt8]] = []
        while let event = stream.next(in: bytes, at: &index) {
            if case .frame = event { heard.append(stream.frame.bytes) }
        }
        for frame in heard { keep(frame) }
    }

    private mutating func keep(_ frame: [UInt8]) {
        guard !frame.isEmpty, frame.count <= Frame.maximumByteCount else { return }
        if frames.count == PacketRadio.frameLimit { frames.removeFirst() }
        frames.append(frame)
    }

    /// Removes and returns the oldest frame that was heard; nil if there is none.
    package mutating func nextFrame() -> [UInt8]? { frames.isEmpty ? nil : frames.removeFirst() }

    /// Removes and returns the oldest notice; nil if there is none.
    package mutating func nextNotice() -> ModemNotice? { notices.isEmpty ? nil : notices.removeFirst() }

    /// Removes and returns the bytes for the port.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

extension Dialect {
    /// The largest frame that every release of a stick's firmware carries. Source for RUI3: release 4.2.0 refuses more than 239 bytes.
    package var maximumFrameByteCount: Int { self == .rui3 ? 239 : Frame.maximumByteCount }
}
