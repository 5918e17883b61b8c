import CollarARQ
import CollarWire

/// The radio module of a base radio, at a port of its own: packets on a serial line (PROTOCOL.md, section 4), and after each
/// packet that it heard a signal report (section 17).
public struct EmulatedRadio: ~Copyable {
    private var port: UART
    private var stream = StreamDecoder()
    private var output = LineOutput()
    /// When the packet that is being sent ends; nil if none is being sent.
    public private(set) var transmissionEnd: Instant?
    private var packet = InlineArray<253, UInt8>(repeating: 0)
    private var packetByteCount = 0

    /// The radio module at a port.
    public init(at port: consuming UART) { self.port = port }

    /// Receives what the module has heard, and gives it to `take`.
    public mutating func receive(_ take: (Span<UInt8>, RadioSignal) -> Void) {
        while let byte = port.read() {
            let bytes: InlineArray<1, UInt8> = [byte]
            var index = 0
            guard stream.next(in: bytes.span, at: &index) == .frame else { continue }
            let frame = stream.frame
            if frame[2] == Frame.baseRadioAddress, let report = Self.report(in: frame) {
                if packetByteCount > 0 { take(packet.span.extracting(0..<packetByteCount), report.signal) }
                packetByteCount = 0
            } else {
                for index in frame.indices { packet[index] = frame[index] }
                packetByteCount = frame.count
            }
        }
    }

    private static func report(in frame: Span<UInt8>) -> SignalReport? {
        do throws(DecodeError) {
            guard FrameCRC.isValid(frame, log: nil), try FrameHeader(frame).type == .signalReport else { return nil }
            return try SignalReport(decoding: frame)
        } catch { return nil }
    }

    /// Begins to send a packet.
    public mutating func send(_ packet: Span<UInt8>, airtimeMicroseconds: Int64, now: Instant) {
        output.fill { StreamEncoder.encode(packet, into: &$0) }
        transmissionEnd = now.advanced(byMicroseconds: airtimeMicroseconds)
    }

    /// Goes on sending.
    /// - Returns: whether a packet has just been sent.
    public mutating func advance(now: Instant) -> Bool {
        output.write(to: &port)
        guard let end = transmissionEnd, end <= now else { return false }
        transmissionEnd = nil
        return true
    }
}
